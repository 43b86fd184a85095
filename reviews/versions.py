"""Inserts the next version of a request, and cancels the version before it if that is open.

A request is replaced at most once, so the versions of a question are a chain. The database holds
this with a unique index, and sets a link to a removed request to null.
"""

from django.db import transaction

from loops.services import hold_members, lock_membership
from outbox.items import Item
from reviews.insertion import Refused, insert
from reviews.lifecycle import transitions
from reviews.models import Request
from reviews.notifications.push.channel import Push
from web.phrases import say


class CannotReplace(Refused):
    """The request in `replaces` cannot be replaced."""


def insert_version(
    request: Request, *, loop_policy: str | None, announces: bool
) -> list[Item[Push]]:
    """Inserts a request that replaces another one, and cancels that one if it is open.

    Both happen in one transaction. A claim on the older version ends with it. Takes and returns
    what `insert` does. Raises CannotReplace, and what `insert` raises.
    """
    account = request.creator_id
    with transaction.atomic():
        # The loop before its requests, as whoever deletes it. If the loop is gone or somebody
        # else's, `insert` says so.
        if request.policy is not None:
            hold_members(request.loop_id, account_id=account)
        if lock_membership(loop_id=request.loop_id, account_id=account, user_id=account):
            _supersede(request)
        return insert(request, loop_policy=loop_policy, announces=announces)


def _supersede(request: Request) -> None:
    """Locks the older version, and cancels it if it is open. If its time is up, it times out."""
    older = _lock_older(request)
    successor = Request.objects.filter(replaces_id=older.pk).values_list("pk", flat=True).first()
    if successor not in (None, request.pk):
        sentence = say("the request in replaces was already replaced by %(id)s", id=successor)
        raise CannotReplace(sentence)
    older.superseded_by_id = request.pk
    transitions.withdraw(older, traceparent=request.traceparent)


def _lock_older(request: Request) -> Request:
    try:
        older = transitions.lock(request.replaces_id, account_id=request.creator_id)
    except Request.DoesNotExist:
        raise CannotReplace(say("replaces must be a request that your account created")) from None
    if older.loop_id != request.loop_id:
        raise CannotReplace(say("replaces must be a request of the same loop"))
    return older
