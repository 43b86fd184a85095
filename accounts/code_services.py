"""Finds, creates and secures the account of a person who confirmed an address with a code."""

from typing import NamedTuple

from allauth.account.models import EmailAddress
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef

from accounts.audit import record
from accounts.emails import match_email
from accounts.models import ApiKey, User
from accounts.secret_services import replace_secret
from accounts.services import create_account, set_key_state
from accounts.sessions import end_sessions


class Holder(NamedTuple):
    """The user who has an address, and the address as stored.

    Codes are sent to the stored address, never to the typed one.
    """

    user: User
    address: str
    is_new: bool = False


def find_holder(email: str) -> Holder | None:
    """Finds the account that has confirmed the address, or else the one that signed up with it.

    The second is ignored if it has confirmed another address: its holder mistyped this one. An
    unconfirmed address that somebody added to another account is ignored too.
    """
    confirmed = EmailAddress.objects.filter(email=email.lower(), verified=True)
    row = confirmed.select_related("user").first()
    if row is not None:
        return Holder(row.user, row.email)
    has_another = Exists(EmailAddress.objects.filter(user=OuterRef("pk"), verified=True))
    user = User.objects.filter(~has_another, match_email(email)).first()
    return Holder(user, user.email) if user else None


def find_or_create_holder(*, email: str, name: str, password: str = "") -> Holder | None:
    """Finds the account of a person who confirmed `email`, or creates it if there is a `name`.

    Without a name, a missing account is None. Two calls at once create only one account.
    `password` is the hash of a new account's password; '' is none.
    """
    holder = find_holder(email)
    if holder is not None or not name:
        return holder
    try:
        with transaction.atomic():
            release_address(email)
            user = create_account(email=email, name=name, verified=True)
            if password:
                user.password = password
                user.save(update_fields=["password"])
    except IntegrityError:
        return find_or_create_holder(email=email, name="")
    return Holder(user, user.email, is_new=True)


def release_address(email: str) -> None:
    """Removes the address from an account that signed up with it but confirmed another one.

    The confirmed address becomes the address of that account.
    """
    user = User.objects.select_for_update().filter(match_email(email)).first()
    if user is None:
        return
    other = EmailAddress.objects.filter(user=user, verified=True).order_by("pk").first()
    if other is None:  # just removed; the caller will find the account
        return
    EmailAddress.objects.filter(user=user, email=user.email).delete()
    other.set_as_primary()
    record(account_id=user.pk, actor_id=None, action="account.email_lost", subject=other.email)


@transaction.atomic
def confirm_address(*, user: User, address: str) -> list[str]:
    """Confirms the stored address of an account when its holder signs in.

    Before that, a stranger may have created the account with somebody else's address. So this
    removes everything that would let a stranger back in. Returns the changes in words.
    """
    User.objects.select_for_update().get(pk=user.pk)
    if EmailAddress.objects.filter(email=address, verified=True).exists():
        return []
    changes = [
        *remove_password(user),
        *remove_other_addresses(user, address),
        *deactivate_keys(user),
    ]
    if replace_secret(account=user):
        changes.append("the webhook secret was replaced")
    if end_sessions(user.pk, except_key=None) or changes:
        changes.insert(0, "all other browsers and devices were signed out")
    row, _ = EmailAddress.objects.get_or_create(user=user, email=address)
    row.verified = True
    row.set_as_primary()  # also saves the row
    return changes


def remove_password(user: User) -> list[str]:
    if not user.has_usable_password():
        return []
    user.set_unusable_password()
    user.save(update_fields=["password"])
    record(account_id=user.pk, actor_id=user.pk, action="security.password_ended")
    return ["the password was removed"]


def remove_other_addresses(user: User, address: str) -> list[str]:
    """Removes all other addresses, because each could receive a code or a password link."""
    others = EmailAddress.objects.filter(user=user).exclude(email=address)
    emails = list(others.values_list("email", flat=True))
    others.delete()
    for email in emails:
        record(account_id=user.pk, actor_id=user.pk, action="account.email_removed", subject=email)
    return [f"{', '.join(emails)} no longer belongs to it"] if emails else []


def deactivate_keys(user: User) -> list[str]:
    """Deactivates all active keys; the holder can activate each again."""
    keys = ApiKey.objects.filter(user=user, state=ApiKey.State.ACTIVE)
    inactive = [set_key_state(key=key, state=ApiKey.State.INACTIVE) for key in keys]
    return ["the API keys were deactivated"] if inactive else []
