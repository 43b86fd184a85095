"""What changes requests. One transaction each; the API and the pages call the same function."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Coalesce, Least, Now
from psycopg.types.json import Json

from accounts import quota
from accounts.quota import Account
from db.columns import dumps
from db.ids import owned_id
from loops.models import Loop, Membership
from loops.services import hold_loop, hold_membership, tell, touch
from reviews.insertion import NotTheOwner as NotTheOwner
from reviews.insertion import insert
from reviews.lifecycle import settling, states, transitions
from reviews.lifecycle.conditions import is_held_by
from reviews.lifecycle.settling import read_settled
from reviews.models import Feedback, Request, RequestQuerySet
from reviews.notifications.push.dispatch import DISPATCHER
from reviews.notifications.push.outbox import Item
from reviews.response_types import response_type

DEFERRED_TIMEOUT = timedelta(days=30)
LEAVING = timedelta(seconds=5)
ATTEMPTS = 3


class TransitionLost(Exception):
    """Somebody or something was faster. `request` is what it has become."""

    def __init__(self, request: Request) -> None:
        super().__init__(request.status)
        self.request = request


class NotAReviewer(Exception):
    """Not, or no longer, an active member of the request's loop."""


class NoActiveMembers(Exception):
    """Nobody in the loop would receive the request."""


class LoopGone(Exception):
    """The loop was already deleted."""


def create_request(
    *,
    loop_id: str,
    account: Account,
    fields: dict[str, Any],
    api_key_id: str | None = None,
    request_id: str | None = None,
) -> Request:
    """A pending request for every active member (specification, POST create request).

    `fields` are those of `RequestInput`. One statement, which is a transaction of its own.
    Raises LoopGone, NotTheOwner, NoActiveMembers, and IntegrityError where `request_id`, the
    token of a form, has made its request already.
    """
    request = Request(
        **{"timeout_seconds": int(DEFERRED_TIMEOUT.total_seconds()), **fields},
        id=request_id or owned_id(account.id),
        loop_id=loop_id,
        creator_id=account.id,
        api_key_id=api_key_id,
    )
    try:
        pushes = insert(request)
    except Loop.DoesNotExist:
        raise LoopGone from None
    if not request.broadcasted_to:
        raise NoActiveMembers
    if pushes:
        transaction.on_commit(partial(_send_pushes, request, pushes), robust=True)
    return request


def _send_pushes(request: Request, pushes: list[Item]) -> None:
    """Sends the pushes of a new request, and waits a moment to count those accepted."""
    request.notifications_sent = DISPATCHER.send_at_once(pushes)


def read_request(request_id: str, *, allowed: RequestQuerySet | None = None) -> Request:
    """The request as it stands, settled on the spot where it is due and held by nobody.

    `allowed` narrows the search. Raises Request.DoesNotExist.
    """
    rows = (Request.objects.all() if allowed is None else allowed).complete_read()

    def read() -> tuple[Request, bool]:
        request: Request = rows.get(pk=request_id)
        return request, request.is_due

    return read_settled(settling.one(request_id), read)


def cancel_request(*, request_id: str, account_id: str) -> str | None:
    """Ends a pending request and credits the call that created it; returns the credited key.

    Raises Request.DoesNotExist (also for another account's request), TransitionLost.
    """
    mine = Request.objects.created_by(account_id).only("api_key_id", "created_at")
    credited: list[str] = []

    def attempt() -> bool:
        request = mine.get(pk=request_id)
        if not transitions.move(states.CANCEL, transitions.ONE, id=request_id, account=account_id):
            return False
        key_id: str | None = request.api_key_id
        if key_id is not None and quota.credit(
            key_id=key_id, account_id=account_id, created_at=request.created_at
        ):
            credited.append(key_id)
        return True

    _move_or_lose(states.CANCEL, request_id, attempt)
    return credited[0] if credited else None


def may_have_feedback(request: Request) -> bool:
    """Feedback is for completed requests alone; completed is final, so this stays true."""
    return request.status == states.COMPLETED


@transaction.atomic
def add_feedback(*, request: Request, feedback: dict[str, Any]) -> None:
    """Attaches feedback to a completed request, replacing what was there."""
    Feedback.objects.update_or_create(
        request=request,
        account_id=request.creator_id,
        defaults={"body": feedback, "updated_at": Now()},
        create_defaults={"body": feedback},
    )
    mine = Request.objects.created_by(request.creator_id)
    mine.filter(pk=request.pk).update(updated_at=Now())


def claim_request(*, request: Request, reviewer_id: str) -> None:
    """Takes the request for a lease; the claimer's own claim is renewed instead.

    Raises NotAReviewer, TransitionLost.
    """
    lease = float(settings.CLAIM_LEASE_SECONDS)

    def attempt() -> bool:
        _hold(request, reviewer_id)
        if renew_claim(request=request, reviewer_id=reviewer_id):
            return True
        claim = {**_named(request), "reviewer": reviewer_id, "lease": lease}
        return bool(transitions.move(states.CLAIM, transitions.ONE, **claim))

    _move_or_lose(states.CLAIM, request.pk, attempt)


@transaction.atomic(savepoint=False)
def renew_claim(*, request: Request, reviewer_id: str) -> datetime | None:
    """Prolongs the reviewer's own lease; returns its end, None where there is none any more."""
    lease = timedelta(seconds=settings.CLAIM_LEASE_SECONDS)
    mine = Request.objects.created_by(request.creator_id).filter(is_held_by(reviewer_id))
    if not mine.filter(pk=request.pk).update(claim_expires_at=Now() + lease):
        return None
    # nobody else can change the row before this transaction ends
    until = Request.objects.values_list("claim_expires_at", flat=True).get(pk=request.pk)
    assert until is not None
    return until


def leave_claim(*, request: Request, reviewer_id: str) -> None:
    """Lets the reviewer's own lease run out in LEAVING: who only loads the page anew renews it
    before anybody else can take the request. Only the lease that `request` was read with: one
    that was renewed since is held by a page that is still there."""
    mine = Request.objects.created_by(request.creator_id).filter(
        is_held_by(reviewer_id), claim_expires_at=request.claim_expires_at
    )
    soon = Least(F("claim_expires_at"), Now() + LEAVING)
    mine.filter(pk=request.pk).update(claim_expires_at=soon)


def release_claim(*, request: Request, reviewer_id: str) -> None:
    """Gives a claimed request back to everybody. Raises TransitionLost."""
    release = {**_named(request), "reviewer": reviewer_id}
    _move_or_lose(
        states.RELEASE,
        request.pk,
        lambda: bool(transitions.move(states.RELEASE, transitions.ONE, **release)),
    )


def answer_request(*, request: Request, reviewer_id: str, answer: object) -> None:
    """Completes the request. The same answer again, by the same reviewer, is a success.

    Raises InvalidAnswer, NotAReviewer, TransitionLost.
    """
    kind = response_type(request.response_type)
    value = kind.check_answer(request.response_config, answer)
    given = {**_named(request), "reviewer": reviewer_id, "answer": Json(value, dumps=dumps)}

    def attempt() -> bool:
        _hold(request, reviewer_id)
        return bool(transitions.move(states.ANSWER, transitions.ONE, **given))

    try:
        _move_or_lose(states.ANSWER, request.pk, attempt)
    except TransitionLost as lost:
        told = lost.request
        if told.response_by_id != reviewer_id or told.response_data != value:
            raise


@transaction.atomic
def delete_loop(*, loop_id: str, account_id: str, key_id: str | None = None) -> None:
    """Takes the loop out of every list and cancels its open requests, without credit.

    Raises Loop.DoesNotExist.
    """
    mine = Loop.objects.of_creator(account_id).filter(pk=loop_id)
    loop = mine.select_for_update().get()
    mine.update(deleted_at=Now(), updated_at=Now())
    transitions.move(states.WITHDRAW, transitions.OF_LOOP, loop=loop_id)
    tell(loop, "loop.deleted", loop.name, key_id=key_id)


@transaction.atomic
def remove_member(
    *,
    loop_id: str,
    account_id: str,
    member_id: str,
    key_id: str | None = None,
    actor_id: str | None = None,
) -> datetime:
    """Ends a membership and gives back what the member holds as claimed; returns the moment.
    `account_id` is the loop's. `actor_id` is the member's own where somebody leaves.

    Raises Loop.DoesNotExist, Membership.DoesNotExist.
    """
    hold_loop(loop_id, account_id=account_id)
    members = Membership.objects.filter(loop_id=loop_id, account_id=account_id, member_id=member_id)
    address = members.values_list(Coalesce("user__email", "email"), flat=True).first()
    removed_at: datetime | None = members.select_for_update().values_list(Now(), flat=True).first()
    if removed_at is None:
        raise Membership.DoesNotExist
    members.delete()
    touch(loop_id, account_id=account_id)
    transitions.move(states.RELEASE, transitions.OF_LOOP, loop=loop_id, reviewer=member_id)
    loop = Loop.objects.of_creator(account_id).only("creator_id", "name").get(pk=loop_id)
    if actor_id == member_id:
        tell(loop, "member.left", loop.name, actor_id=actor_id)
    else:
        tell(loop, "member.removed", f"{address} from {loop.name}", key_id=key_id)
    return removed_at


def _named(request: Request) -> dict[str, Any]:
    """The parameters of `transitions.ONE`."""
    return {"id": request.pk, "account": request.creator_id}


def _hold(request: Request, reviewer_id: str) -> None:
    if not hold_membership(
        loop_id=request.loop_id, account_id=request.creator_id, user_id=reviewer_id
    ):
        raise NotAReviewer


def _move_or_lose(
    transition: states.Transition, request_id: str, attempt: Callable[[], bool]
) -> None:
    """Commits what `attempt` has moved, or undoes it and raises TransitionLost.

    What the request has become is read behind the transaction: reading may settle it, and what is
    settled is told only once it is committed.
    """
    for _ in range(ATTEMPTS):
        with transaction.atomic():
            if attempt():
                return
            transaction.set_rollback(True)
        told = read_request(request_id)
        if told.status not in transition.sources:
            break
        # whoever was in the way has gone since: a claim released or lapsed, a member removed
    raise TransitionLost(told)
