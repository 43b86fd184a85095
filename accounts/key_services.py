"""Creates, rolls and shows API keys for the key pages (docs/contract.md, `auth.key_form`)."""

from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from accounts import key_format
from accounts.audit import record
from accounts.models import ApiKey, User
from accounts.notices import Origin, notify
from accounts.secured import lock_account
from accounts.services import check_permissions, describe_key, insert_api_key


class NotRollable(ValueError):
    """The key does not work, or was already rolled."""


def create_api_key_once(
    *, user: User, secret: str, origin: Origin | None = None, **fields: Any
) -> ApiKey:
    """Creates the key whose `secret` the form carried; sending the form again returns the same key.

    The key has not been shown yet. `fields` are name, permissions and expires_at. The holder gets
    an email. Raises UnknownPermission, AccountSecured.
    """
    check_permissions(fields["permissions"])
    try:
        with transaction.atomic():
            lock_account(user)
            key = insert_api_key(secret, user=user, shown_at=None, **fields)
            record(
                account_id=user.pk,
                actor_id=user.pk,
                action="key.created",
                subject=describe_key(key),
            )
            notify(account=user, action="key.created", subject=describe_key(key), origin=origin)
    except IntegrityError:  # the form was sent before
        return ApiKey.objects.get(user=user, digest=key_format.digest(secret))
    return key


@transaction.atomic
def roll_api_key(
    *, key: ApiKey, secret: str, overlap: timedelta, origin: Origin | None = None
) -> ApiKey:
    """Creates a successor with the key's name, permissions, limit and expiry; emails the holder.

    The old key ends after `overlap`, or at its own expiry if that is earlier. Sending the same form
    twice rolls once. Raises NotRollable.
    """
    lock_account(key.user)
    rows = ApiKey.objects.filter(pk=key.pk, user_id=key.user_id)
    old = rows.select_for_update(of=("self",)).select_related("user").get()
    successor: ApiKey | None = ApiKey.objects.filter(
        user=old.user, digest=key_format.digest(secret), replaces=old
    ).first()
    if successor is not None:
        return successor
    if not rows.usable().filter(replaced_by=None).exists():
        raise NotRollable
    successor = insert_api_key(
        secret,
        user=old.user,
        name=old.name,
        permissions=old.permissions,
        hourly_limit=old.hourly_limit,
        expires_at=old.expires_at,
        shown_at=None,
    )
    ends_at = Now() + overlap
    rows.update(replaced_by=successor)
    rows.exclude(expires_at__lt=ends_at).update(expires_at=ends_at)
    record(
        account_id=old.user_id, actor_id=old.user_id, action="key.rolled", subject=describe_key(old)
    )
    notify(account=old.user, action="key.rolled", subject=describe_key(old), origin=origin)
    return successor


@transaction.atomic
def mark_key_shown(*, user: User, key_id: str, secret: str) -> ApiKey | None:
    """Marks the user's key as shown and returns it; None if shown before or of another `secret`."""
    rows = ApiKey.objects.filter(pk=key_id, user=user)
    not_shown = rows.filter(digest=key_format.digest(secret), shown_at=None)
    return rows.get() if not_shown.update(shown_at=Now()) else None
