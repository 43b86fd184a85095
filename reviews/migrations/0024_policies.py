"""Adds the policy of requests, who may answer by it, and its outcome."""

from django.contrib.postgres.fields import ArrayField
from db.operations import AddFields
from django.db import migrations, models

from db.columns import ExactJSONField


class Migration(migrations.Migration):
    dependencies = [("loops", "0008_policy"), ("reviews", "0023_answers_of_before")]
    operations = [
        AddFields(
            "request",
            policy=ExactJSONField(null=True),
            eligible=ArrayField(models.CharField(max_length=24), null=True),
            outcome=models.CharField(max_length=12, null=True),
            answers_received=models.PositiveSmallIntegerField(default=0, db_default=0),
        ),
    ]
