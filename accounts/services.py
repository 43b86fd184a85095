"""What changes accounts and keys. One transaction each."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from allauth.account.models import EmailAddress
from django.db import connection, transaction
from django.db.models import Exists, OuterRef

from accounts import key_format
from accounts.audit import record
from accounts.emails import of_address
from accounts.models import PERMISSIONS, ApiKey, ReservedId, User
from db.ids import new_id


class UnknownPermission(ValueError):
    """A permission that no key can have; the message names it and the known ones."""


class FinalKeyState(ValueError):
    """A revoked or deleted key stays so."""


@transaction.atomic
def create_account(
    *, email: str, name: str = "", password: str | None = None, verified: bool = False
) -> User:
    """A new account, with the id that an invitation has reserved for its address."""
    user = User(id=reserved_id(email) or new_id(), email=email.lower(), name=name)
    user.set_password(password)
    user.save(force_insert=True)
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=verified)
    return user


def reserved_id(email: str) -> str | None:
    """The user id that waits for the owner of `email`, unless somebody has it already: whoever
    signed up with the address may have another one by now."""
    free = ~Exists(User.objects.filter(pk=OuterRef("user_id")))
    waiting = ReservedId.objects.filter(free, of_address(email))
    return waiting.values_list("user_id", flat=True).first()


@transaction.atomic
def reserve_user_id(*, email: str) -> str:
    """The id of the account of `email`, or the one that it will have."""
    address = email.lower()
    known = User.objects.filter(of_address(address)).values_list("id", flat=True).first()
    if known is not None:
        return known
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO accounts_reservedid (email, user_id) VALUES (%s, %s)"
            " ON CONFLICT ON CONSTRAINT reserved_email_unique"
            " DO UPDATE SET email = excluded.email RETURNING user_id",
            [address, new_id()],
        )
        (user_id,) = cursor.fetchone()
    return str(user_id)


@transaction.atomic
def save_profile(*, user: User, name: str, time_zone: str) -> None:
    """What people say about themselves."""
    User.objects.filter(pk=user.pk).update(name=name, time_zone=time_zone)
    record(account_id=user.pk, actor_id=user.pk, action="account.profile_changed")


@transaction.atomic
def create_api_key(
    *,
    user: User,
    name: str,
    permissions: Sequence[str] = PERMISSIONS,
    hourly_limit: int | None = None,
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """A new key and its secret, which is not kept. Raises UnknownPermission."""
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
    """Deactivates, activates, revokes or deletes; a state that it has already is no change.

    A revoked key can only be deleted; a deleted one is gone for good. Raises FinalKeyState.
    """
    held: ApiKey = ApiKey.objects.select_for_update().get(pk=key.pk, user_id=key.user_id)
    revoked, deleted = ApiKey.State.REVOKED, ApiKey.State.DELETED
    if held.state == state != deleted:
        return held
    if held.state == deleted or (held.state == revoked and state != deleted):
        raise FinalKeyState(f"This key is {held.state} for good.")
    held.state = state
    held.save(update_fields=["state"])
    actor_id = actor.pk if actor else held.user_id
    record(
        account_id=held.user_id,
        actor_id=actor_id,
        action=f"key.{state}",
        subject=describe_key(held),
    )
    return held


def check_permissions(permissions: Sequence[str]) -> None:
    """Raises UnknownPermission."""
    for permission in permissions:
        if permission not in PERMISSIONS:
            known = ", ".join(PERMISSIONS)
            raise UnknownPermission(f"{permission!r} is not one of: {known}")


def describe_key(key: ApiKey) -> str:
    """How the audit log names a key."""
    return f"{key.name} ({key})"


def insert_api_key(secret: str, **fields: Any) -> ApiKey:
    made: ApiKey = ApiKey.objects.create(
        digest=key_format.digest(secret),
        prefix=secret[: len(key_format.PREFIX) + 4],
        last_four=secret[-4:],
        **fields,
    )
    return made
