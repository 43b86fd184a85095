"""Creates and changes accounts and API keys. Each change is one transaction."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from allauth.account.models import EmailAddress
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from accounts import key_format
from accounts.audit import record
from accounts.confirmed import confirmed
from accounts.emails import fold_address, lock_address, match_email
from accounts.models import PERMISSIONS, ApiKey, ReservedId, User
from db.ids import new_id


class UnknownPermission(ValueError):
    """The permission does not exist; the message names it and the known ones."""


class FinalKeyState(ValueError):
    """The key is revoked or deleted, which cannot be undone."""


@transaction.atomic
def create_account(
    *, email: str, name: str = "", password: str | None = None, verified: bool = False
) -> User:
    """Creates an account. With a `verified` address it gets the id that an invitation reserved.

    Without one it gets an id of its own: the address may be somebody else's.
    """
    user_id = take_reserved_id(email=email) if verified else None
    user = User(id=user_id or new_id(), email=fold_address(email), name=name)
    user.set_password(password)
    user.save(force_insert=True)
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=verified)
    return user


@transaction.atomic
def take_reserved_id(*, email: str) -> str | None:
    """Returns the id that invitations to `email` show, or None if a new account cannot have it.

    The row stays: later invitations show the same id and do not reveal that an account exists.
    """
    lock_address(email)
    is_taken = Exists(User.objects.filter(pk=OuterRef("user_id")))
    rows = ReservedId.objects.filter(~is_taken, match_email(email))
    return rows.values_list("user_id", flat=True).first()


@transaction.atomic
def reserve_user_id(*, email: str) -> str:
    """Returns the id that invitations to `email` show, whether or not an account has the address.

    A person who confirms the address before they have an account gets this id. If that account has
    another address by now, the id changes.
    """
    address = fold_address(email)
    lock_address(address)
    row, _ = ReservedId.objects.get_or_create(email=address, defaults={"user_id": new_id()})
    holders = User.objects.filter(match_email(address), confirmed(""))
    if User.objects.filter(pk=row.user_id).exclude(pk__in=holders.values("pk")).exists():
        user_id = new_id()
        ReservedId.objects.filter(email=address).update(user_id=user_id)
        return user_id
    return str(row.user_id)


@transaction.atomic
def save_profile(*, user: User, name: str, time_zone: str, language: str = "") -> None:
    """Saves a person's name, time zone and language; None as language means that of their browser.

    Does nothing if the account was deleted meanwhile.
    """
    rows = User.objects.filter(pk=user.pk, is_active=True)
    if rows.update(name=name, time_zone=time_zone, language=language):
        record(account_id=user.pk, actor_id=user.pk, action="account.profile_changed")


@transaction.atomic
def hide_setup(*, user: User) -> None:
    """Hides the checklist of the account's first steps for good."""
    User.objects.filter(pk=user.pk, setup_hidden_at=None).update(setup_hidden_at=Now())


def create_api_key(
    *,
    user: User,
    name: str,
    permissions: Sequence[str] = PERMISSIONS,
    hourly_limit: int | None = None,
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """Creates a key; returns it with its secret, which is not stored. Raises UnknownPermission."""
    check_permissions(permissions)
    secret = key_format.new_key()
    key = insert_api_key(
        secret,
        user=user,
        name=name,
        permissions=list(permissions),
        hourly_limit=hourly_limit,
        expires_at=expires_at,
    )
    record(account_id=user.pk, actor_id=user.pk, action="key.created", subject=describe_key(key))
    return key, secret


@transaction.atomic
def set_key_state(*, key: ApiKey, state: ApiKey.State, actor: User | None = None) -> ApiKey:
    """Activates, deactivates, revokes or deletes a key; does nothing if it has the state already.

    A revoked key can only be deleted, and a deleted key never changes. Raises FinalKeyState.
    """
    locked: ApiKey = ApiKey.objects.select_for_update().get(pk=key.pk, user_id=key.user_id)
    revoked, deleted = ApiKey.State.REVOKED, ApiKey.State.DELETED
    if locked.state == state != deleted:
        return locked
    if locked.state == deleted or (locked.state == revoked and state != deleted):
        raise FinalKeyState(f"This key is {locked.state} for good.")
    locked.state = state
    locked.save(update_fields=["state"])
    actor_id = actor.pk if actor else locked.user_id
    record(
        account_id=locked.user_id,
        actor_id=actor_id,
        action=f"key.{state}",
        subject=describe_key(locked),
    )
    return locked


def end_grants(user: User) -> None:
    """Ends the person's standing grants, after the calls that use one now."""
    User.objects.filter(pk=user.pk).update(grants_ended_at=Now())


def check_permissions(permissions: Sequence[str]) -> None:
    """Raises UnknownPermission if a permission does not exist."""
    for permission in permissions:
        if permission not in PERMISSIONS:
            known = ", ".join(PERMISSIONS)
            raise UnknownPermission(f"{permission!r} is not one of: {known}")


def describe_key(key: ApiKey) -> str:
    """Returns the name of a key for the audit log."""
    return f"{key.name} ({key})"


def insert_api_key(secret: str, **fields: Any) -> ApiKey:
    key: ApiKey = ApiKey.objects.create(
        digest=key_format.digest(secret),
        prefix=secret[: len(key_format.PREFIX) + 4],
        last_four=secret[-4:],
        **fields,
    )
    return key
