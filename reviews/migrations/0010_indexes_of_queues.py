"""Adds the index that finds what a person has claimed, and replaces the one that finds what is due by
one that the planner cannot take for a list."""

from django.db import migrations
from django.db.models import Case, F, Index, Q, When
from django.db.models.lookups import IsNull

from db.operations import AddIndexWhileInUse, RemoveIndexWhileInUse

DUE_AT = Case(When(status__in=["pending", "claimed"], then=F("timeout_at")))


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("reviews", "0009_notification_call_id")]
    operations = [
        AddIndexWhileInUse(
            "request",
            Index(fields=["claimed_by"], condition=Q(status="claimed"), name="request_holder"),
        ),
        AddIndexWhileInUse(
            "request", Index(DUE_AT, condition=Q(IsNull(DUE_AT, False)), name="request_overdue")
        ),
        RemoveIndexWhileInUse("request", "request_due"),
    ]
