"""Adds how many answers to a request equal its outcome."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reviews", "0030_receipts")]
    operations = [
        migrations.AddField(
            "request", "answers_agreed", models.PositiveSmallIntegerField(null=True)
        ),
    ]
