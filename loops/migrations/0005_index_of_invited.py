"""Adds the index on invited addresses, which 0002 made in the past, and validates the check of 0004."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations, models

from db.operations import AddIndexWhileInUse


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("loops", "0004_keeping")]
    operations = [
        AddIndexWhileInUse(
            "membership",
            models.Index(
                fields=["email"], condition=models.Q(status="pending"), name="invited_by_email"
            ),
        ),
        ValidateConstraint("loop", "loop_keeps_long_enough"),
    ]
