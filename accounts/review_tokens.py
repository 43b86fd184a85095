"""Creates, shows and revokes review tokens (docs/contract.md, `review.token`).

A call of the API holds its token (`hold`) until its transaction ends, and a revocation waits for
such calls. So no call uses a token after its revocation has returned.
"""

from collections.abc import Iterable
from datetime import datetime

from django.db import IntegrityError, connection, transaction
from django.db.models.functions import Now

from accounts import key_format
from accounts.audit import record
from accounts.models import ReviewToken, User
from accounts.notices import Origin, notify
from accounts.secured import lock_account

# FOR KEY SHARE lets calls count themselves meanwhile; only a revocation, with FOR UPDATE, waits.
_HOLD = """
SELECT FROM accounts_reviewtoken
 WHERE id = %(id)s AND user_id = %(user)s AND revoked_at IS NULL AND expires_at > clock_timestamp()
   FOR KEY SHARE
"""


class TokenEnded(Exception):
    """The token was revoked or has expired since the call began."""


def create_once(
    *, user: User, secret: str, name: str, expires_at: datetime, origin: Origin | None = None
) -> ReviewToken:
    """Creates a token with the `secret` of its form. A form that is sent twice creates one token.

    The token has not been shown yet. The person gets an email. Raises AccountSecured.
    """
    try:
        with transaction.atomic():
            lock_account(user)
            token: ReviewToken = ReviewToken.objects.create(
                user=user,
                name=name,
                digest=key_format.digest(secret),
                last_four=secret[-4:],
                expires_at=expires_at,
            )
            _record([token], "created", actor_id=user.pk)
            notify(
                account=user, action="review_token.created", subject=describe(token), origin=origin
            )
    except IntegrityError:  # the form was sent before
        return ReviewToken.objects.of_person(user.pk).get(digest=key_format.digest(secret))
    return token


@transaction.atomic
def mark_shown(*, user: User, token_id: str, secret: str) -> ReviewToken | None:
    """Marks a token as shown and returns it; None if it was shown before or the secret is wrong."""
    rows = ReviewToken.objects.of_person(user.pk).filter(pk=token_id)
    not_shown = rows.filter(digest=key_format.digest(secret), shown_at=None)
    return rows.get() if not_shown.update(shown_at=Now()) else None


@transaction.atomic
def revoke(*, user_id: str, token_id: str, actor_id: str | None = None) -> bool:
    """Revokes the person's token after the calls that hold it; False if it was no longer valid.

    Raises ReviewToken.DoesNotExist.
    """
    rows = ReviewToken.objects.of_person(user_id).filter(pk=token_id)
    token = rows.select_for_update().get()
    return bool(_end([token], "revoked", actor_id=actor_id or user_id))


@transaction.atomic
def revoke_all(user_id: str) -> int:
    """Revokes all tokens of the person; returns how many."""
    return _end(lock_all(user_id), "revoked", actor_id=user_id)


def end_all(user_id: str) -> int:
    """Ends all tokens of a person who has left the last loop; returns how many."""
    return _end(lock_all(user_id), "ended", actor_id=user_id)


def lock_all(user_id: str) -> list[ReviewToken]:
    """Locks the person's tokens by the order of their ids, after the calls that hold them."""
    return list(ReviewToken.objects.of_person(user_id).order_by("id").select_for_update())


def hold(token_id: str, *, user_id: str) -> None:
    """Makes revocations of the token wait until the transaction ends. Raises TokenEnded."""
    with connection.cursor() as cursor:
        cursor.execute(_HOLD, {"id": token_id, "user": user_id})
        if cursor.fetchone() is None:
            raise TokenEnded


def describe(token: ReviewToken) -> str:
    """Returns the name of a token for the audit log."""
    return f"{token.name} ({token})"


def _end(locked: Iterable[ReviewToken], verb: str, *, actor_id: str) -> int:
    """Revokes the locked tokens that are not revoked yet; returns how many."""
    ending = [token for token in locked if token.revoked_at is None]
    for token in ending:
        rows = ReviewToken.objects.of_person(token.user_id).filter(pk=token.pk)
        rows.update(revoked_at=Now())
    _record(ending, verb, actor_id=actor_id)
    return len(ending)


def _record(tokens: Iterable[ReviewToken], verb: str, *, actor_id: str) -> None:
    for token in tokens:
        record(
            account_id=token.user_id,
            actor_id=actor_id,
            action=f"review_token.{verb}",
            subject=describe(token),
        )
