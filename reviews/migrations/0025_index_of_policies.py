"""Adds the index of open requests with a policy, while the service keeps running."""

from django.db import migrations, models
from django.db.models import Q

from db.operations import AddIndexWhileInUse


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("reviews", "0024_policies")]
    operations = [
        AddIndexWhileInUse(
            "request",
            models.Index(
                fields=["loop", "id"],
                condition=Q(policy__isnull=False, status__in=["pending", "claimed"]),
                name="request_open_policy",
            ),
        ),
    ]
