"""Creates and changes requests. Each service is one transaction, shared by API and pages."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Coalesce, Least, Now

from accounts import quota, review_tokens
from db.time_limits import allow_longer
from loops import services as loop_services
from loops.models import Loop, Membership
from loops.services import lock_loop, lock_membership, record_audit, touch
from reviews import grants
from reviews.comments import check_comment
from reviews.creation import LoopGone as LoopGone
from reviews.creation import create_request as create_request
from reviews.feedback_texts import remove_texts
from reviews.grants import InvalidGrant as InvalidGrant
from reviews.insertion import NoActiveMembers as NoActiveMembers
from reviews.insertion import NotTheOwner as NotTheOwner
from reviews.insertion import Refused as Refused
from reviews.insertion import TooFewPeople as TooFewPeople
from reviews.lifecycle import states, transitions
from reviews.lifecycle.conditions import is_held_by
from reviews.models import Answer, Feedback, Request
from reviews.moving import TransitionLost as TransitionLost
from reviews.moving import move_or_raise
from reviews.moving import read_request as read_request
from reviews.response_types import get_response_type
from reviews.versions import CannotReplace as CannotReplace
from reviews.viewers import record_claimed

LEAVE_GRACE = timedelta(seconds=5)
ENDING_SECONDS = 60.0  # to end all open requests of a loop, 1,000 to 2,000 a second
_TOUCH = """
UPDATE reviews_request SET updated_at = statement_timestamp()
 WHERE id = %(id)s AND creator_id = %(account)s RETURNING texts_removed_at IS NULL
"""


class NotAReviewer(Exception):
    """The user is not an active member of the request's loop."""


class NotAsked(Exception):
    """The reviewer is not among those who may answer the request by its policy."""


def cancel_request(
    *,
    request_id: str,
    account_id: str,
    is_call: bool = False,
    traceparent: str | None = None,
) -> str | None:
    """Cancels a pending request; `is_call` also credits the key that created it, and returns it.

    Only a cancel that itself cost a call credits one. Otherwise, free cancels in the dashboard
    would lift the hourly limit of creates. Raises Request.DoesNotExist (also for another account's
    request), TransitionLost.
    """
    credited: list[str] = []

    def attempt() -> bool:
        request = transitions.cancel(request_id, account_id=account_id, traceparent=traceparent)
        if request is None:
            return False
        key_id: str | None = request.api_key_id
        if (
            is_call
            and key_id is not None
            and quota.credit(key_id=key_id, account_id=account_id, created_at=request.created_at)
        ):
            credited.append(key_id)
        return True

    move_or_raise(states.CANCEL, request_id, attempt)
    return credited[0] if credited else None


def may_have_feedback(request: Request) -> bool:
    """Tells whether the request is completed, a final state, and accepts feedback."""
    return request.status == states.COMPLETED


@transaction.atomic
def add_feedback(*, request: Request, feedback: dict[str, Any]) -> dict[str, Any]:
    """Sets the feedback on a completed request, replacing an earlier one; returns what is stored.

    Stores no texts if those of the request are removed. Raises Request.DoesNotExist if the request
    was removed meanwhile.
    """
    own = {"id": request.pk, "account": request.creator_id}
    with connection.cursor() as cursor:
        cursor.execute(_TOUCH, own)  # the lock prevents its removal
        row = cursor.fetchone()
    if row is None:
        raise Request.DoesNotExist
    stored = feedback if row[0] else remove_texts(feedback)
    Feedback.objects.update_or_create(
        request=request,
        account_id=request.creator_id,
        defaults={"body": stored, "updated_at": Now()},
        create_defaults={"body": stored},
    )
    return stored


def claim_request(*, request: Request, reviewer_id: str, token_id: str | None = None) -> None:
    """Claims the request for a lease, or renews the reviewer's own claim.

    A request of several answers has no claims. `token_id` is the review token with which the
    reviewer acts. Raises NotAReviewer, NotAsked, TokenEnded, TransitionLost.
    """
    if not request.asks(reviewer_id):
        raise NotAsked
    if request.needs_several:
        return
    lease = timedelta(seconds=settings.CLAIM_LEASE_SECONDS)
    by = {"account_id": request.creator_id, "person_id": reviewer_id}

    def attempt() -> bool:
        _lock_membership(request, reviewer_id, token_id)
        if renew_claim(request=request, reviewer_id=reviewer_id):
            return True
        if not transitions.claim(request.pk, **by, lease=lease):
            return False
        record_claimed(request, reviewer_id)
        return True

    move_or_raise(states.CLAIM, request.pk, attempt)


@transaction.atomic(savepoint=False)
def renew_claim(*, request: Request, reviewer_id: str) -> datetime | None:
    """Renews the reviewer's own lease; returns its end, None if the reviewer has no lease."""
    lease = timedelta(seconds=settings.CLAIM_LEASE_SECONDS)
    own = Request.objects.created_by(request.creator_id).filter(is_held_by(reviewer_id))
    if not own.filter(pk=request.pk).update(claim_expires_at=Now() + lease):
        return None
    # Nobody else can change the row before this transaction ends.
    mine = Request.objects.created_by(request.creator_id)
    expires_at = mine.values_list("claim_expires_at", flat=True).get(pk=request.pk)
    assert expires_at is not None
    return expires_at


def leave_claim(*, request: Request, reviewer_id: str) -> None:
    """Shortens the reviewer's own lease to LEAVE_GRACE after the reviewer left the page.

    A reviewer who reloads the page renews the lease before others can claim. A lease that was
    renewed after `request` was read belongs to an open page, and stays.
    """
    own = Request.objects.created_by(request.creator_id).filter(
        is_held_by(reviewer_id), claim_expires_at=request.claim_expires_at
    )
    soon = Least(F("claim_expires_at"), Now() + LEAVE_GRACE)
    own.filter(pk=request.pk).update(claim_expires_at=soon)


def release_claim(*, request: Request, reviewer_id: str, token_id: str | None = None) -> None:
    """Releases the reviewer's claim on the request. Raises TokenEnded, TransitionLost."""
    by = {"account_id": request.creator_id, "person_id": reviewer_id}

    def attempt() -> bool:
        if token_id is not None:
            review_tokens.hold(token_id, user_id=reviewer_id)
        return transitions.release(request.pk, **by)

    move_or_raise(states.RELEASE, request.pk, attempt)


def answer_request(
    *,
    request: Request,
    reviewer_id: str,
    answer: object,
    comment: str = "",
    terms: grants.Terms | None = None,
    token_id: str | None = None,
) -> bool:
    """Completes the request with the answer. The same answer by the same reviewer succeeds again.

    Where a policy needs several answers, a further one of the reviewer replaces the one before.
    With `terms` an approval also allows equal calls for a while (`reviews.grants`). `token_id` is
    the review token with which the reviewer answers. Returns False if that answer was
    there before. Raises InvalidAnswer, InvalidComment, InvalidGrant, NotAReviewer,
    NotAsked, TokenEnded, TransitionLost.
    """
    if not request.asks(reviewer_id):
        raise NotAsked
    kind = get_response_type(request.response_type)
    value = kind.check_answer(request.response_config, answer)
    words = check_comment(request, answer=value, comment=comment)
    if terms is not None:
        grants.check_terms(request, terms, value)
    by = {"account_id": request.creator_id, "person_id": reviewer_id}

    def attempt() -> bool:
        if terms is not None:
            grants.hold_permission(request)
        _lock_membership(request, reviewer_id, token_id)
        is_moved = transitions.answer(request.pk, **by, value=value, comment=words)
        if is_moved and terms is not None:
            grants.create(request, terms, person_id=reviewer_id)
        return is_moved

    try:
        move_or_raise(states.ANSWER, request.pk, attempt)
    except TransitionLost as lost:
        sent = Answer.objects.filter(request=lost.request, person_id=reviewer_id).first()
        if sent is None or (sent.data, sent.comment) != (value, words):
            raise
        return False
    return True


@transaction.atomic
def update_loop(*, loop: Loop, changes: dict[str, Any], key_id: str | None = None) -> None:
    """Updates the loop's fields; ends its standing grants if the owner forbids them.

    Raises Loop.DoesNotExist.
    """
    loop_services.update_loop(loop=loop, changes=changes, key_id=key_id)
    if changes.get("forbids_grants"):
        grants.end_of_loop(loop)


@transaction.atomic
def delete_loop(
    *, loop_id: str, account_id: str, key_id: str | None = None, traceparent: str | None = None
) -> None:
    """Marks the loop as deleted and cancels its open requests, without credit.

    Raises Loop.DoesNotExist.
    """
    loops = Loop.objects.of_creator(account_id).filter(pk=loop_id)
    loop = loops.select_for_update().get()
    allow_longer(ENDING_SECONDS)
    loops.update(deleted_at=Now(), updated_at=Now())
    transitions.withdraw_all(loop_id, traceparent=traceparent)
    record_audit(loop, "loop.deleted", loop.name, key_id=key_id)


@transaction.atomic
def remove_member(
    *,
    loop_id: str,
    account_id: str,
    member_id: str,
    key_id: str | None = None,
    actor_id: str | None = None,
) -> datetime:
    """Ends a membership and releases the member's claims; returns the time of removal.

    Requests that need the member's answer by their policy end. So do the member's standing grants,
    and the review tokens of a person who is in no loop any more.

    `account_id` is the loop's. `member_id` may also be an id that an invitation had reserved for
    the member. `actor_id` is the member's own id if the member leaves.

    Raises Loop.DoesNotExist, Membership.DoesNotExist.
    """
    lock_loop(loop_id, account_id=account_id)
    allow_longer(ENDING_SECONDS)
    members = Membership.objects.filter(loop_id=loop_id, account_id=account_id)
    known = members.known_as(member_id).exclude(member_id=account_id)
    found = known.values_list("pk", "member_id", Coalesce("user__email", "email")).first()
    if found is None:
        raise Membership.DoesNotExist
    pk, member_id, address = found
    row = members.filter(pk=pk)
    removed_at: datetime = row.select_for_update().values_list(Now(), flat=True).get()
    row.delete()
    _end_review_tokens(member_id)
    grants.end_of_member(loop_id, person_id=member_id, actor_id=actor_id or account_id)
    touch(loop_id, account_id=account_id)
    transitions.release_all(loop_id, person_id=member_id)
    transitions.count_without(loop_id, person_id=member_id)
    loop = Loop.objects.of_creator(account_id).only("creator_id", "name").get(pk=loop_id)
    if actor_id == member_id:
        record_audit(loop, "member.left", loop.name, actor_id=actor_id)
    else:
        record_audit(loop, "member.removed", f"{address} from {loop.name}", key_id=key_id)
    return removed_at


def _end_review_tokens(person_id: str) -> None:
    """Ends the tokens of a person who has just left the last loop.

    The tokens are locked before memberships are counted, so that of two loops left at a time the
    second one ends them.
    """
    has_tokens = bool(review_tokens.lock_all(person_id))
    if has_tokens and not Membership.objects.active().filter(user_id=person_id).exists():
        review_tokens.end_all(person_id)


def _lock_membership(request: Request, reviewer_id: str, token_id: str | None) -> None:
    """Locks what lets the person review: the membership, then the token if there is one."""
    if not lock_membership(
        loop_id=request.loop_id, account_id=request.creator_id, user_id=reviewer_id
    ):
        raise NotAReviewer
    if token_id is not None:
        review_tokens.hold(token_id, user_id=reviewer_id)
