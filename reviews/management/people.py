"""Finds the person that an operator names by an address."""

from allauth.account.models import EmailAddress
from django.core.management.base import CommandError

from accounts.emails import match_email
from accounts.models import User


def find_person(email: str) -> User:
    """Finds an account by its address, or by a further one that is confirmed."""
    address = email.strip()
    person = User.objects.filter(match_email(address)).first()
    if person is None:
        confirmed = EmailAddress.objects.filter(match_email(address), verified=True)
        row = confirmed.select_related("user").first()
        if row is None:
            raise CommandError(f"There is no account {address!r}.")
        person = row.user
    return person
