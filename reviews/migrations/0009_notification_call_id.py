"""Adds the id of the call that caused a notification."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reviews", "0008_traceparent")]
    operations = [
        migrations.AddField(
            "notification", "call_id", models.CharField(max_length=64, null=True, editable=False)
        ),
    ]
