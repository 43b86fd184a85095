"""Finds the account that an operator names by an address."""

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.core.validators import validate_email

from accounts.code_services import find_holder
from accounts.emails import clean_address, validate_address
from accounts.models import User


def find_account(email: str) -> User | None:
    """Finds the account that has confirmed the address, else one that only signed up with it."""
    try:
        holder = find_holder(clean_address(email))
    except ValidationError:
        return None
    return holder.user if holder else None


def get_account(email: str) -> User:
    """Finds an account as `find_account` does. Raises CommandError if there is none."""
    account = find_account(email)
    if account is None:
        raise CommandError(f"There is no account {email.strip()!r}.")
    return account


def read_address(typed: str) -> str:
    """Returns an address as it is stored. Raises CommandError."""
    try:
        address = clean_address(typed)
        validate_email(address)
        validate_address(address)
    except ValidationError:
        raise CommandError(f"{typed.strip()!r} is not an email address.") from None
    return address
