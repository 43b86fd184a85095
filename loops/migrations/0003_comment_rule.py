"""Adds the options that a loop's reviewers must comment on."""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("loops", "0002_admission")]
    operations = [
        migrations.AddField(
            "loop",
            "comment_required_for",
            ArrayField(models.CharField(max_length=200), db_default=[], default=list),
        ),
    ]
