"""Adds the policy of requests, who may answer by it, and its outcome."""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models

from db.columns import ExactJSONField


class Migration(migrations.Migration):
    dependencies = [("loops", "0008_policy"), ("reviews", "0023_answers_of_before")]
    operations = [
        migrations.AddField("request", "policy", ExactJSONField(null=True)),
        migrations.AddField(
            "request", "eligible", ArrayField(models.CharField(max_length=24), null=True)
        ),
        migrations.AddField("request", "outcome", models.CharField(max_length=12, null=True)),
        migrations.AddField(
            "request",
            "answers_received",
            models.PositiveSmallIntegerField(default=0, db_default=0),
        ),
    ]
