"""Keys made and rolled by a form, and shown once (specification, Authentication)."""

from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from accounts import key_format
from accounts.audit import record
from accounts.models import ApiKey, User
from accounts.services import check_permissions, describe_key, insert_api_key


class NotRollable(ValueError):
    """Only a key that works, and that was not rolled before, can be rolled."""


def create_api_key_once(*, user: User, secret: str, **fields: Any) -> ApiKey:
    """The key of a `secret` that the holder's form has carried: however often it is sent, it
    makes one key, which waits to be shown. `fields` are name, permissions and expires_at.

    Raises UnknownPermission.
    """
    check_permissions(fields["permissions"])
    try:
        with transaction.atomic():
            key = insert_api_key(secret, user=user, shown_at=None, **fields)
            record(
                account_id=user.pk,
                actor_id=user.pk,
                action="key.created",
                subject=describe_key(key),
            )
    except IntegrityError:  # sent before
        return ApiKey.objects.get(user=user, digest=key_format.digest(secret))
    return key


@transaction.atomic
def roll_api_key(*, key: ApiKey, secret: str, overlap: timedelta) -> ApiKey:
    """A new key with the old one's name, permissions and limit; the old one ends after
    `overlap`, or at its own expiry if that comes first. The same form sent twice rolls once.

    Raises NotRollable.
    """
    rows = ApiKey.objects.filter(pk=key.pk, user_id=key.user_id)
    old = rows.select_for_update(of=("self",)).select_related("user").get()
    made = ApiKey.objects.filter(
        user=old.user, digest=key_format.digest(secret), replaces=old
    ).first()
    if made is not None:
        return made
    if not rows.usable().filter(replaced_by=None).exists():
        raise NotRollable
    fresh = insert_api_key(
        secret,
        user=old.user,
        name=old.name,
        permissions=old.permissions,
        hourly_limit=old.hourly_limit,
        shown_at=None,
    )
    ends_at = Now() + overlap
    rows.update(replaced_by=fresh)
    rows.exclude(expires_at__lt=ends_at).update(expires_at=ends_at)
    record(
        account_id=old.user_id, actor_id=old.user_id, action="key.rolled", subject=describe_key(old)
    )
    return fresh


@transaction.atomic
def show_once(*, user: User, key_id: str, secret: str) -> ApiKey | None:
    """The user's key, if `secret` is its own and nobody has seen it yet; from now on it is seen."""
    mine = ApiKey.objects.filter(pk=key_id, user=user)
    waiting = mine.filter(digest=key_format.digest(secret), shown_at=None)
    return mine.get() if waiting.update(shown_at=Now()) else None
