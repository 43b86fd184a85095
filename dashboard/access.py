"""Page guards of the dashboard, and look-ups limited to the account's own loops and requests."""

from collections.abc import Callable

from django.http import Http404
from django.utils.translation import gettext as _

from loops.models import Loop
from reviews import services
from reviews.models import Request, RequestQuerySet
from web import guards
from web.bidi import isolate
from web.guards import Page, SignedInRequest, form_page, page
from web.keyset import read_cursor

__all__ = [
    "Stale",
    "action",
    "find_loop",
    "find_request",
    "form_page",
    "page",
    "read_cursor",
    "select_requests",
]  # fmt: skip


class Stale(guards.Stale):
    """The object of the page was removed. `words` name it; `back` is the page to show next."""

    def __init__(self, words: str, *, back: str = "loops", **ids: str) -> None:
        super().__init__(words, back=back, **ids)


def action(back: str) -> Callable[[Page], Page]:
    """Decorates a view that takes a form. A GET redirects to the page named `back`."""
    return guards.action(back, without="member_id")


def loop_gone(loop: Loop) -> Stale:
    """Builds the error of a view whose loop was deleted meanwhile."""
    return Stale(_("The loop %(name)s was deleted.") % {"name": isolate(loop.name)})


def find_loop(request: SignedInRequest, loop_id: str) -> Loop:
    """Returns the account's loop. Raises Http404, and Stale for a deleted loop."""
    mine = Loop.objects.filter(creator_id=request.user.pk)
    loop: Loop | None = mine.filter(pk=loop_id).first()
    if loop is None:
        raise Http404
    if loop.deleted_at is not None:
        raise loop_gone(loop)
    return loop


def select_requests(request: SignedInRequest) -> RequestQuerySet:
    requests: RequestQuerySet = Request.objects.created_by(request.user.pk)
    return requests


def find_request(request: SignedInRequest, request_id: str) -> Request:
    """Returns the account's request, settled if it was due. Raises Http404."""
    try:
        return services.read_request(request_id, allowed=select_requests(request))
    except Request.DoesNotExist:
        raise Http404 from None
