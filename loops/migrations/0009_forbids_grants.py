"""Lets the owner of a loop forbid standing grants."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("loops", "0008_policy")]
    operations = [
        migrations.AddField(
            "loop", "forbids_grants", models.BooleanField(db_default=False, default=False)
        )
    ]
