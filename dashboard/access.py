"""Whose loops and requests a page of the dashboard shows."""

from collections.abc import Callable

from django.http import Http404

from loops.models import Loop
from reviews import services
from reviews.models import Request, RequestQuerySet
from web import guards
from web.guards import Page, SignedInRequest, form_page, page
from web.keyset import read_cursor

__all__ = [
    "Stale",
    "action",
    "created_by",
    "find_loop",
    "find_request",
    "form_page",
    "page",
    "read_cursor",
]  # fmt: skip


class Stale(guards.Stale):
    """Somebody removed what the page was about; the words say what. `back` names a page."""

    def __init__(self, words: str, *, back: str = "loops", **ids: str) -> None:
        super().__init__(words, back=back, **ids)


def action(back: str) -> Callable[[Page], Page]:
    """A form's target; coming by GET leads to the page called `back`, of the loop or request."""
    return guards.action(back, without="member_id")


def find_loop(request: SignedInRequest, loop_id: str) -> Loop:
    """The account's loop. Raises Http404, and Stale for one that was deleted."""
    mine = Loop.objects.filter(creator_id=request.user.pk)
    loop: Loop | None = mine.filter(pk=loop_id).first()
    if loop is None:
        raise Http404
    if loop.deleted_at is not None:
        raise Stale(f"The loop {loop.name} was deleted.")
    return loop


def created_by(request: SignedInRequest) -> RequestQuerySet:
    requests: RequestQuerySet = Request.objects.created_by(request.user.pk)
    return requests


def find_request(request: SignedInRequest, request_id: str) -> Request:
    """The account's request as it stands, settled. Raises Http404."""
    try:
        return services.read_request(request_id, allowed=created_by(request))
    except Request.DoesNotExist:
        raise Http404 from None
