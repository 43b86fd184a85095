"""Requests in every state, made through the services."""

from datetime import timedelta
from typing import Any, Protocol

import pytest
from django.db.models import F, Q
from django.db.models.functions import Now

from accounts.models import User
from accounts.quota import Account
from loops.models import Loop
from reviews import services
from reviews.models import Request

FIELDS: dict[str, Any] = {
    "processing_type": "time-sensitive",
    "type": "markdown",
    "priority": "high",
    "request_text": "Should we refund order 4821?",
    "timeout_seconds": 600,
    "response_type": "single_select",
    "response_config": {"options": ["yes", "no"]},
    "default_response": "no",
    "platform": "api",
}


class Make(Protocol):
    def __call__(self, **changes: Any) -> Request: ...


def acting(user: User) -> Account:
    """The user as the API knows a caller."""
    return Account(id=user.pk, email=user.email, name=user.name, is_active=user.is_active)


@pytest.fixture
def make(owner: User, loop: Loop) -> Make:
    """`make(**changes)` is a fresh pending request of the owner's loop."""

    def make_request(**changes: Any) -> Request:
        made = services.create_request(
            loop_id=loop.pk, account=acting(owner), fields={**FIELDS, **changes}
        )
        return services.read_request(made.pk)

    return make_request


def make_overdue(request: Request) -> None:
    """Moves the deadline into the past; no sweep has been there yet."""
    Request.objects.filter(pk=request.pk).update(timeout_at=Now() - timedelta(seconds=1))


def let_lease_run_out(request: Request) -> None:
    """Moves the end of the lease into the past."""
    Request.objects.filter(pk=request.pk).update(
        claim_expires_at=F("claimed_at") - timedelta(seconds=1)
    )


def by_the_clock(where: Q | None = None) -> list[Request]:
    """The rows as they must stand once everything is settled that is due by now: worked out here
    from the stored ones, by the words of docs/contract.md. Not to be saved."""
    rows: list[Request] = list(Request.objects.filter(where or Q()).with_clock())
    for row in rows:
        if row.status not in ("pending", "claimed"):
            continue
        if row.timeout_at <= row.now:
            row.status, row.response_data = "timeout", row.default_response
            row.updated_at = row.timeout_at
        elif row.claim_expires_at and row.claim_expires_at <= row.now:
            row.status, row.updated_at = "pending", row.claim_expires_at
        if row.status != "claimed":
            row.claimed_by = row.claimed_at = row.claim_expires_at = None
    return rows
