"""Adds the indexes that find requests by their end, while the service keeps running."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations, models
from django.db.models import Case, F, Q, When

from db.operations import AddIndexWhileInUse

ENDED = Case(
    When(status="completed", then=F("response_at")),
    When(status="timeout", then=F("timeout_at")),
    default=F("updated_at"),
)
FINISHED = Q(status__in=["completed", "timeout", "cancelled"])


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("reviews", "0011_texts_removed_at")]
    operations = [
        AddIndexWhileInUse(
            "request",
            models.Index(
                F("loop"),
                ENDED,
                condition=FINISHED & Q(texts_removed_at__isnull=True),
                name="request_with_texts",
            ),
        ),
        AddIndexWhileInUse(
            "request",
            models.Index(
                F("loop"),
                ENDED,
                condition=FINISHED & Q(texts_removed_at__isnull=False),
                name="request_without_texts",
            ),
        ),
        ValidateConstraint("request", "request_open_with_texts"),
    ]
