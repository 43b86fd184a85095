"""Moves requests on behind the client's back: deadlines pass, reviewers act."""

from datetime import timedelta
from typing import Any

from django.db.models import F

from accounts.models import User
from reviews.models import Request
from reviews.services import answer_request, claim_request


def let_pass(request_id: str, **span: float) -> None:
    """Move the request into the past by timedelta(**span), its deadlines included."""
    back = timedelta(**span)
    Request.objects.filter(pk=request_id).update(
        created_at=F("created_at") - back, timeout_at=F("timeout_at") - back
    )


def let_lease_pass(request_id: str) -> None:
    """The claim of the request has run out."""
    back = timedelta(days=1)
    Request.objects.filter(pk=request_id).update(
        claimed_at=F("claimed_at") - back, claim_expires_at=F("claim_expires_at") - back
    )


def answer(request_id: str, reviewer: User, value: Any = "yes") -> None:
    """`reviewer` answers in the portal."""
    answer_request(
        request=Request.objects.get(pk=request_id), reviewer_id=reviewer.pk, answer=value
    )


def claim(request_id: str, reviewer: User) -> None:
    """`reviewer` takes the request."""
    claim_request(request=Request.objects.get(pk=request_id), reviewer_id=reviewer.pk)
