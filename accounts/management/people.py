"""Finds the account that an operator names by an address."""

from allauth.account.models import EmailAddress
from django.core.management.base import CommandError

from accounts.emails import match_email
from accounts.models import User


def find_account(email: str) -> User | None:
    """Finds who has confirmed the address, as their only one or a further one; else who has signed
    up with it."""
    confirmed = EmailAddress.objects.filter(match_email(email.strip()), verified=True)
    row = confirmed.select_related("user").first()
    return row.user if row else User.objects.filter(match_email(email.strip())).first()


def get_account(email: str) -> User:
    """The same. Raises CommandError where there is none."""
    account = find_account(email)
    if account is None:
        raise CommandError(f"There is no account {email.strip()!r}.")
    return account
