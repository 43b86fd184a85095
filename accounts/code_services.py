"""Finds and creates the account of a person who confirms an address with a code."""

from typing import NamedTuple

from allauth.account.models import EmailAddress
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef

from accounts.emails import fold_address, lock_address, match_email
from accounts.models import User
from accounts.proofs import lock_users, release_address
from accounts.services import create_account


class Holder(NamedTuple):
    """The user who has an address, and the address as stored.

    Codes are sent to the stored address, never to the typed one.
    """

    user: User
    address: str
    is_new: bool = False


def find_holder(email: str) -> Holder | None:
    """Finds the account that has confirmed the address, else the one that signed up with it.

    Ignores an account that signed up with the address and confirmed another: its holder mistyped
    this one. Also ignores an unconfirmed address that somebody added to another account.
    """
    confirmed = EmailAddress.objects.filter(email=fold_address(email), verified=True)
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
    return create_holder(email=email, name=name, password=password)


def create_holder(*, email: str, name: str, password: str = "") -> Holder | None:
    """Creates the account of a confirmed address; returns that of a concurrent call, if any."""
    try:
        return _create_holder(email, name, password)
    except IntegrityError:  # somebody signed up with a password this very moment
        return find_holder(email)


@transaction.atomic
def _create_holder(email: str, name: str, password: str) -> Holder:
    lock_address(email)
    holder = find_holder(email)
    if holder is not None:
        return holder
    for other in lock_users(email):
        release_address(other, fold_address(email))
    user = create_account(email=email, name=name, verified=True)
    if password:
        user.password = password
        user.save(update_fields=["password"])
    return Holder(user, user.email, is_new=True)
