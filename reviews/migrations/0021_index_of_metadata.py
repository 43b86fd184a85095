"""Adds the index that finds requests by their metadata, while the service keeps running."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import migrations, models
from django.db.models import F, Func, Q

from db.operations import AddIndexWhileInUse


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("reviews", "0020_metadata")]
    operations = [
        AddIndexWhileInUse(
            "request",
            GinIndex(
                Func(
                    F("creator_id"),
                    F("metadata"),
                    function="reviews_metadata_pairs",
                    output_field=ArrayField(models.TextField()),
                ),
                condition=Q(metadata__isnull=False),
                fastupdate=False,
                name="request_metadata",
            ),
        ),
    ]
