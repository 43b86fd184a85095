"""Adds for how many days a loop keeps finished requests and their texts."""

from django.contrib.postgres.operations import AddConstraintNotValid
from db.operations import AddFields
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("loops", "0003_comment_rule")]
    operations = [
        AddFields(
            "loop",
            keep_requests_days=models.PositiveSmallIntegerField(null=True),
            keep_texts_days=models.PositiveSmallIntegerField(null=True),
        ),
        AddConstraintNotValid(
            "loop",
            models.CheckConstraint(
                condition=(Q(keep_requests_days__isnull=True) | Q(keep_requests_days__gte=4))
                & (Q(keep_texts_days__isnull=True) | Q(keep_texts_days__gte=4)),
                name="loop_keeps_long_enough",
            ),
        ),
    ]
