"""What becomes of an account whose holder has shown, by a code, that an address is theirs."""

from typing import NamedTuple

from allauth.account.models import EmailAddress
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef

from accounts.audit import record
from accounts.emails import of_address
from accounts.models import ApiKey, User
from accounts.secret_services import replace_secret
from accounts.services import create_account, set_key_state
from accounts.sessions import end_sessions


class Holder(NamedTuple):
    """Whose an address is, and the address as it is stored: codes go there, never to what was
    typed."""

    user: User
    address: str
    is_new: bool = False


def find_holder(email: str) -> Holder | None:
    """The account that has confirmed the address, else the one that signed up with it and has
    confirmed no other: who has one mistyped this one. That somebody has added it to another
    account, unconfirmed, says nothing."""
    confirmed = EmailAddress.objects.filter(email=email.lower(), verified=True)
    held = confirmed.select_related("user").first()
    if held is not None:
        return Holder(held.user, held.email)
    has_another = Exists(EmailAddress.objects.filter(user=OuterRef("pk"), verified=True))
    user = User.objects.filter(~has_another, of_address(email)).first()
    return Holder(user, user.email) if user else None


def accept_holder(*, email: str, name: str) -> Holder | None:
    """The account of whoever has shown that `email` is theirs; a new one for a `name`, None
    without. Twice at once makes one account."""
    holder = find_holder(email)
    if holder is not None or not name:
        return holder
    try:
        with transaction.atomic():
            free_address(email)
            user = create_account(email=email, name=name, verified=True)
    except IntegrityError:
        return accept_holder(email=email, name="")
    return Holder(user, user.email, is_new=True)


def free_address(email: str) -> None:
    """Takes the address from the account that signed up with it and has confirmed another one:
    that one is its address from now on."""
    user = User.objects.select_for_update().filter(of_address(email)).first()
    if user is None:
        return
    other = EmailAddress.objects.filter(user=user, verified=True).order_by("pk").first()
    if other is None:  # removed a moment ago: the caller will meet the account
        return
    EmailAddress.objects.filter(user=user, email=user.email).delete()
    other.set_as_primary()
    record(account_id=user.pk, actor_id=None, action="account.email_lost", subject=other.email)


@transaction.atomic
def confirm_address(*, user: User, address: str) -> list[str]:
    """Confirms the stored address of an account that its holder is signing in to.

    While nobody had confirmed it the account may have been that of a stranger who waited for the
    holder: nothing that a stranger could come back by stays. Returns what has ended, in words.
    """
    User.objects.select_for_update().get(pk=user.pk)
    if EmailAddress.objects.filter(email=address, verified=True).exists():
        return []
    lost = [*lose_password(user), *lose_addresses(user, address), *lose_keys(user)]
    if replace_secret(account=user):
        lost.append("the webhook secret was replaced")
    if end_sessions(user.pk, but=None) or lost:
        lost.insert(0, "all other browsers and devices were signed out")
    held, _ = EmailAddress.objects.get_or_create(user=user, email=address)
    held.verified = True
    held.set_as_primary()  # which saves it
    return lost


def lose_password(user: User) -> list[str]:
    if not user.has_usable_password():
        return []
    user.set_unusable_password()
    user.save(update_fields=["password"])
    record(account_id=user.pk, actor_id=user.pk, action="security.password_ended")
    return ["the password was removed"]


def lose_addresses(user: User, kept: str) -> list[str]:
    """Each may be a way in: a code or a link to a new password goes there."""
    others = EmailAddress.objects.filter(user=user).exclude(email=kept)
    emails = list(others.values_list("email", flat=True))
    others.delete()
    for email in emails:
        record(account_id=user.pk, actor_id=user.pk, action="account.email_removed", subject=email)
    return [f"{', '.join(emails)} no longer belongs to it"] if emails else []


def lose_keys(user: User) -> list[str]:
    """They can be activated again, one by one."""
    keys = ApiKey.objects.filter(user=user, state=ApiKey.State.ACTIVE)
    ended = [set_key_state(key=key, state=ApiKey.State.INACTIVE) for key in keys]
    return ["the API keys were deactivated"] if ended else []
