"""Issues receipts of approvals and redeems them once. Each service is one transaction."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import jwt
from django.db import connection, transaction

from accounts.erasing import is_erased
from accounts.models import User
from reviews import canonical
from reviews.lifecycle.states import COMPLETED
from reviews.models import Answer, Receipt, Request
from reviews.receipts import signing_keys
from reviews.receipts.claims import (
    build_claims,
    compute_expiry,
    find_obstacle,
)
from reviews.response_types.approval.names import APPROVAL

TYPE = "approval-receipt+jwt"
# `redeemed_at` decides between calls at the same time: the loser waits for the row, and no longer
# finds it.
_REDEEM = """
UPDATE reviews_receipt SET redeemed_at = statement_timestamp(), redeemed_with_id = %(key)s
 WHERE request_id = %(request)s AND account_id = %(account)s
   AND redeemed_at IS NULL AND expires_at > statement_timestamp()
RETURNING redeemed_at
"""


class NoReceipt(Exception):
    """Nobody has approved the request. The argument says what happened instead."""


class DifferentArguments(Exception):
    """The arguments are not those that were approved. The argument is the path of the first one."""


class DifferentName(Exception):
    """A call with another name was approved."""


class AlreadyRedeemed(Exception):
    """The receipt was redeemed before, `at` this time."""

    def __init__(self, at: datetime) -> None:
        super().__init__(at)
        self.at = at


class Expired(Exception):
    """The receipt expired `at` this time."""

    def __init__(self, at: datetime) -> None:
        super().__init__(at)
        self.at = at


def read_receipt(request: Request) -> Receipt:
    """Returns the receipt of an approved request; the first read issues it.

    `request` is one of `for_single_read`. Raises NoReceipt, Request.DoesNotExist, vault.Unreadable.
    """
    require_approval(request)
    receipt = find_receipt(request) or _issue(request)
    has_several = request.policy is not None
    if has_several or (request.response_by and is_erased(request.response_by)):
        _rename(receipt)
    return receipt


def require_approval(request: Request) -> None:
    """Raises NoReceipt unless a person approved the request."""
    if obstacle := find_obstacle(request):
        raise NoReceipt(obstacle)


class Approval(NamedTuple):
    """An approved request as its page shows it; it has no receipt until a program reads one."""

    receipt: Receipt | None
    expires_at: datetime
    is_expired: bool


def read_approval(request: Request) -> Approval | None:
    """Returns the approval of a request of `for_single_read`; None for any other request."""
    if find_obstacle(request) is not None:
        return None
    receipt = find_receipt(request)
    expires_at = receipt.expires_at if receipt else compute_expiry(request)
    return Approval(receipt, expires_at, expires_at <= request.now)


def find_receipt(request: Request) -> Receipt | None:
    """Returns the receipt if it was issued."""
    receipt: Receipt | None = (
        Receipt.objects.filter(pk=request.pk, account_id=request.creator_id)
        .select_related("redeemed_with")
        .first()
    )
    return receipt


@transaction.atomic
def redeem(
    request: Request, arguments: dict[str, Any], *, name: str | None = None, key_id: str
) -> Receipt:
    """Redeems the receipt with the approved arguments, and returns it. No `name` fits every call.

    Raises NoReceipt, AlreadyRedeemed, DifferentName, DifferentArguments, Expired,
    canonical.NotCanonical, Request.DoesNotExist, vault.Unreadable.
    """
    receipt = read_receipt(request)
    if receipt.redeemed_at is not None:
        raise AlreadyRedeemed(receipt.redeemed_at)
    if name is not None and name != _read_claims(receipt)["name"]:
        raise DifferentName
    if canonical.compute_digest(arguments) != receipt.arguments_sha256:
        raise DifferentArguments(_find_difference(request, arguments))
    params = {"request": request.pk, "account": request.creator_id, "key": key_id}
    with connection.cursor() as cursor:
        cursor.execute(_REDEEM, params)
        row = cursor.fetchone()
    if row is not None:
        receipt.redeemed_at, receipt.redeemed_with_id = row[0], key_id
        return receipt
    stored = find_receipt(request)
    if stored is None:
        raise Request.DoesNotExist
    if stored.redeemed_at is not None:
        raise AlreadyRedeemed(stored.redeemed_at)
    raise Expired(stored.expires_at)


def _find_difference(request: Request, arguments: dict[str, Any]) -> str:
    """Returns the path of the first difference; only `arguments` once the texts are removed."""
    path = "arguments"
    if request.texts_removed_at is not None:
        return path
    return canonical.find_difference(request.response_data["arguments"], arguments, path) or path


@transaction.atomic
def _issue(request: Request) -> Receipt:
    """Issues the receipt unless another process was faster. Raises Request.DoesNotExist."""
    rows = Request.objects.created_by(request.creator_id).filter(pk=request.pk)
    # the lock prevents its removal, and lets one process issue
    locked = rows.with_clock().select_for_update(no_key=True).get()
    return find_receipt(locked) or _insert(locked)


def _insert(request: Request) -> Receipt:
    key_id, key = signing_keys.read_signing_key()
    claims = build_claims(request)
    receipt: Receipt = Receipt.objects.create(
        request=request,
        account_id=request.creator_id,
        key_id=key_id,
        token=_sign(claims, key_id, key),
        arguments_sha256=claims["arguments_sha256"],
        expires_at=compute_expiry(request),
    )
    return receipt


def _sign(claims: dict[str, Any], key_id: str, key: jwt.PyJWK) -> str:
    headers = {"typ": TYPE, "kid": key_id}
    return jwt.encode(claims, key, algorithm=signing_keys.ALGORITHM, headers=headers)


def issue_missing(account_id: str, request_ids: Sequence[str]) -> None:
    """Issues the receipts of approvals whose texts are about to go, in the caller's transaction.

    Nothing could compute their digests afterwards.
    """
    rows = Request.objects.created_by(account_id).filter(
        pk__in=request_ids, response_type=APPROVAL, status=COMPLETED, receipt=None
    )
    for request in rows.with_clock():
        if find_obstacle(request) is None:
            _insert(request)


@transaction.atomic
def rename_erased(person: User, *, after: str = "", limit: int) -> Sequence[str]:
    """Signs a batch of receipts that name an erased person anew, with the pseudonym.

    Returns their ids in order; `after` is the last one of the batch before.
    """
    answered = Answer.objects.filter(person=person).values("request_id")
    rows = Receipt.objects.filter(pk__in=answered, pk__gt=after).order_by("pk")
    batch = list(rows[:limit])
    for receipt in batch:
        _rename(receipt)
    return [receipt.pk for receipt in batch]


def _read_claims(receipt: Receipt) -> dict[str, Any]:
    """Returns what a receipt states; its texts may be gone from the request."""
    return jwt.decode(receipt.token, options={"verify_signature": False})  # our own


def _rename(receipt: Receipt) -> None:
    """Signs the receipt anew if it names people who have been erased since."""
    claims = _read_claims(receipt)
    named = User.objects.filter(pk__in=[each["id"] for each in claims["answered_by"]])
    erased = {person.pk: person.name for person in named if is_erased(person)}
    people = [
        {**each, "name": erased.get(each["id"], each["name"])} for each in claims["answered_by"]
    ]
    if people == claims["answered_by"]:
        return
    key_id, key = signing_keys.read_signing_key()
    receipt.token = _sign({**claims, "answered_by": people}, key_id, key)
    receipt.key_id = key_id
    receipt.save(update_fields=["token", "key"])
