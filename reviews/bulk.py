"""Applies a service to several requests, each in its own transaction."""

from collections.abc import Sequence
from dataclasses import dataclass

from reviews import services
from reviews.lifecycle import states
from reviews.models import Request


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The numbers of requests that were cancelled, that were claimed, and that had ended."""

    cancelled: int
    claimed: int
    ended: int


def cancel_requests(*, account_id: str, request_ids: Sequence[str]) -> Cancelled:
    """Cancels the account's requests among these, one guarded transition after another.

    Cancelled requests stay cancelled if a later one fails. Ignores ids of other accounts.
    """
    cancelled = claimed = ended = 0
    for request_id in request_ids:
        try:
            services.cancel_request(request_id=request_id, account_id=account_id)
            cancelled += 1
        except services.TransitionLost as lost:
            is_claimed = lost.request.status == states.CLAIMED
            claimed, ended = claimed + is_claimed, ended + (not is_claimed)
        except Request.DoesNotExist:
            continue
    return Cancelled(cancelled, claimed, ended)
