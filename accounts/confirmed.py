"""Says whether an account has confirmed its address, for the ORM and in SQL.

An account's address is `accounts_user.email`. It is confirmed once its owner has opened a link or
typed a code that was sent to it.
"""

from allauth.account.models import EmailAddress
from django.conf import settings
from django.db.models import Exists, OuterRef

from accounts.models import User

# `user` is the alias of accounts_user.
CONFIRMED_SQL = (
    "EXISTS (SELECT 1 FROM account_emailaddress e"
    " WHERE e.user_id = {user}.id AND e.email = {user}.email AND e.verified)"
)


def confirmed(user: str) -> Exists:
    """Builds `CONFIRMED_SQL` for the ORM; `user` is the path to the account in the outer query."""
    path = f"{user}__" if user else ""
    addresses = EmailAddress.objects.filter(
        user_id=OuterRef(f"{path}id"), email=OuterRef(f"{path}email"), verified=True
    )
    return Exists(addresses)


def has_confirmed(user: User) -> bool:
    """Tells whether the account has confirmed its address."""
    rows = EmailAddress.objects.filter(user=user, email=user.email, verified=True)
    return bool(rows.exists())


def lacks_confirmation(user: User) -> bool:
    """Tells whether the account has to confirm its address before it may send email.

    Where the service sends no email nobody can confirm an address, so nobody has to.
    """
    return settings.REQUIRE_CONFIRMED_ADDRESSES and not has_confirmed(user)
