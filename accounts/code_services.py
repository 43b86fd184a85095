"""What becomes of an account whose holder has shown, by a code, that an address is theirs."""

from dataclasses import dataclass
from typing import NamedTuple

from allauth.account.models import EmailAddress
from django.db import IntegrityError, transaction

from accounts.addresses import of_address
from accounts.audit import record
from accounts.models import User
from accounts.services import create_account
from accounts.sessions import end_sessions


@dataclass(frozen=True, slots=True)
class Shown:
    """Whose the address is. `lost_password`: one was set by who knows whom, and has ended."""

    user: User
    is_new: bool = False
    lost_password: bool = False


class Holder(NamedTuple):
    """Whose an address is, and the address as it is stored: codes go there, never to what was
    typed."""

    user: User
    address: str


def find_holder(email: str) -> Holder | None:
    """The account that has confirmed the address, else the one that signed up with it. That
    somebody has added it to another account, unconfirmed, says nothing."""
    confirmed = EmailAddress.objects.filter(email=email.lower(), verified=True)
    held = confirmed.select_related("user").first()
    if held is not None:
        return Holder(held.user, held.email)
    user = User.objects.filter(of_address(email)).first()
    return Holder(user, user.email) if user else None


def accept_holder(*, email: str, name: str) -> Shown | None:
    """The account of whoever has shown that `email` is theirs; a new one for a `name`, None
    without. Twice at once makes one account."""
    holder = find_holder(email)
    if holder is not None:
        return Shown(holder.user, lost_password=_confirm(*holder))
    if not name:
        return None
    try:
        return Shown(create_account(email=email, name=name, verified=True), is_new=True)
    except IntegrityError:
        return accept_holder(email=email, name="")


@transaction.atomic
def _confirm(user: User, email: str) -> bool:
    """Confirms the address. Whoever signed up with an address that nobody had confirmed may have
    been a stranger who waits for its holder: their password and their sessions end. Whether a
    password did."""
    held, _ = EmailAddress.objects.get_or_create(user=user, email=email, defaults={"primary": True})
    if held.verified:
        return False
    held.verified = True
    held.save(update_fields=["verified"])
    if not user.has_usable_password():
        return False
    user.set_unusable_password()
    user.save(update_fields=["password"])
    end_sessions(user.pk, but=None)
    record(account_id=user.pk, actor_id=user.pk, action="security.password_ended")
    return True
