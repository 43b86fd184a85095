"""Lets standing grants of a person end when the account is secured or disabled."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0012_review_tokens")]
    operations = [
        migrations.AddField("user", "grants_ended_at", models.DateTimeField(blank=True, null=True))
    ]
