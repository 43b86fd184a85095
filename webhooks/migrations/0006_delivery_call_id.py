"""Adds the id of the call that caused a delivery."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0005_traceparent")]
    operations = [
        migrations.AddField(
            "delivery", "call_id", models.CharField(max_length=64, null=True, editable=False)
        ),
    ]
