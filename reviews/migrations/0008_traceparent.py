"""Adds the trace that a request belongs to."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("reviews", "0007_asked_through")]
    operations = [
        migrations.AddField("request", "traceparent", models.CharField(max_length=55, null=True)),
    ]
