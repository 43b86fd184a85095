"""Finds the account that an operator names by an address."""

from django.core.management.base import CommandError

from accounts.code_services import find_holder
from accounts.models import User


def find_account(email: str) -> User | None:
    """Finds who has confirmed the address, as their only one or a further one; else who has signed
    up with it and has confirmed none."""
    holder = find_holder(email.strip())
    return holder.user if holder else None


def get_account(email: str) -> User:
    """Finds an account as `find_account` does. Raises CommandError if there is none."""
    account = find_account(email)
    if account is None:
        raise CommandError(f"There is no account {email.strip()!r}.")
    return account
