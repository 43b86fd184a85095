"""Adds who may join a loop, and the ids that invitations had reserved for a member."""

from django.contrib.postgres.fields import ArrayField
from db.operations import AddFields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("loops", "0001_tables")]
    operations = [
        AddFields(
            "loop",
            require_verified=models.BooleanField(db_default=True, default=True),
            allowed_domains=ArrayField(
                models.CharField(max_length=253), db_default=[], default=list
            ),
        ),
        migrations.AddField(
            "membership",
            "former_ids",
            ArrayField(models.CharField(max_length=24), db_default=[], default=list),
        ),
    ]
