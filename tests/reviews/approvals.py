"""Requests of the type approval, in each way in which they end."""

from datetime import timedelta
from typing import Any

from django.db.models import F
from django.db.models.functions import Now

from accounts.models import User
from reviews.models import Receipt, Request, build_answer

ARGUMENTS: dict[str, Any] = {"order": "A-1042", "amount": 40, "lines": [{"sku": "x", "count": 2}]}
PROPOSAL: dict[str, Any] = {"name": "refund", "arguments": ARGUMENTS, "title": "Refund"}


def turn_into_approval(request_id: str, **config: Any) -> None:
    """Makes an open question one of the type approval."""
    Request.objects.filter(pk=request_id).update(
        response_type="approval",
        response_config={"proposal": PROPOSAL, **config},
        default_response={"action": "reject"},
    )


def decide(request_id: str, person: User, action: str = "approve", **more: Any) -> None:
    """The person decides about an open approval."""
    data: dict[str, Any] = {"action": action}
    if action in ("approve", "edit"):
        data |= {"arguments": ARGUMENTS, "edited": []}
    data |= more
    add_answer(request_id, person, data)
    Request.objects.filter(pk=request_id).update(
        status="completed", response_data=data, response_by=person, response_at=Now()
    )


def add_answer(request_id: str, person: User, data: dict[str, Any]) -> None:
    request = Request.objects.with_clock().get(pk=request_id)
    build_answer(request, person_id=person.pk, data=data, comment=None, at=request.now).save(
        force_insert=True
    )


def let_expire(request_id: str) -> None:
    """The receipt, which was issued, has expired."""
    back = timedelta(days=40)
    Receipt.objects.filter(pk=request_id).update(expires_at=F("expires_at") - back)
