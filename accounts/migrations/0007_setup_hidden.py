"""Adds when an account hid the checklist of its first steps."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0006_language")]
    operations = [
        migrations.AddField("user", "setup_hidden_at", models.DateTimeField(null=True, blank=True)),
    ]
