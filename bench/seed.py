"""Accounts, loops and requests to measure with."""

from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from accounts.models import User
from accounts.services import create_account
from config.ids import new_id
from loops.models import Loop
from loops.services import create_loop
from reviews.models import Request


def account(number: int) -> tuple[User, Loop]:
    """An account with a loop."""
    owner = create_account(email=f"bench{number}.{new_id()}@example.com", name="Bench")
    return owner, create_loop(owner_id=owner.pk, name="Bench", icon="cog")


def requests(loop: Loop, count: int, *, timeout_at: datetime, **fields: Any) -> None:
    """Pending requests of a realistic size, written past the services."""
    now = timezone.now()
    common: dict[str, Any] = {
        "loop": loop,
        "creator_id": loop.creator_id,
        "processing_type": "deferred",
        "type": "markdown",
        "priority": "high",
        "request_text": "Should we refund order 4821? The parcel arrived broken. " * 4,
        "timeout_seconds": 600,
        "response_type": "single_select",
        "response_config": {"options": [{"value": "yes", "label": "Yes"}, "no"]},
        "default_response": "no",
        "platform": "api",
        "context": {"order": 4821, "customer": {"since": 2019, "claims": [1, 2, 3]}},
        "timeout_at": timeout_at,
        "broadcasted_to": 1,
        "created_at": now - timedelta(minutes=10),
        "updated_at": now - timedelta(minutes=10),
    }
    rows = (Request(id=new_id(), **{**common, **fields}) for _ in range(count))
    Request.objects.bulk_create(rows, batch_size=1000)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
