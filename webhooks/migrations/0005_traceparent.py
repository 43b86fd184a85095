"""Adds the trace that an event belongs to."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0004_failing_hosts")]
    operations = [
        migrations.AddField("delivery", "traceparent", models.CharField(max_length=55, null=True)),
    ]
