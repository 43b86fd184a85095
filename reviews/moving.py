"""Moves a request in its own transaction. The loser of a race gets the request's new state."""

from collections.abc import Callable

from django.db import transaction

from reviews.lifecycle import settling
from reviews.lifecycle.settling import read_settled
from reviews.lifecycle.states import Transition
from reviews.models import Request, RequestQuerySet

MAX_ATTEMPTS = 3


class TransitionLost(Exception):
    """Another transition of the request came first. `request` is its present state."""

    def __init__(self, request: Request) -> None:
        super().__init__(request.status)
        self.request = request


def read_request(request_id: str, *, allowed: RequestQuerySet | None = None) -> Request:
    """Returns the request, settled first if it is due and not locked.

    `allowed` limits the requests that can be found. Raises Request.DoesNotExist.
    """
    rows = (Request.objects.all() if allowed is None else allowed).for_single_read()

    def read() -> tuple[Request, bool]:
        request: Request = rows.get(pk=request_id)
        return request, request.is_due

    return read_settled(settling.scope_to_request(request_id), read)


def move_or_raise(transition: Transition, request_id: str, attempt: Callable[[], bool]) -> None:
    """Commits what `attempt` has moved, or rolls it back and raises TransitionLost.

    The present state is read after the transaction, because the read may settle the request, and a
    settled request is shown only after the commit.
    """
    for _ in range(MAX_ATTEMPTS):
        with transaction.atomic():
            if attempt():
                return
            transaction.set_rollback(True)
        stored = read_request(request_id)
        if stored.status not in transition.sources:
            break
        # The obstacle is gone by now: a claim was released or lapsed, or a member was removed.
    raise TransitionLost(stored)
