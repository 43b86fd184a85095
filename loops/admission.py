"""Decides who may join a loop: anybody, people with a confirmed address, or those of some domains.

People invited at an address that they have confirmed may always join, and members stay.
"""

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import DomainNameValidator

from accounts.models import User
from loops.models import Loop, Membership
from web.domains import fold
from web.pasted import InvisibleCharacter, clean, to_narrow

MAX_DOMAINS = 20
_validate = DomainNameValidator(accept_idna=True)


class NotAdmitted(Exception):
    """The loop does not admit this person."""


class AddressUnconfirmed(NotAdmitted):
    """The person has to confirm their address first."""


class OtherDomain(NotAdmitted):
    """The person's address is not at one of the loop's domains."""


class InvalidDomain(ValueError):
    """The text is no domain, or there are more than MAX_DOMAINS."""


def check_admission(loop: Loop, user: User) -> None:
    """Raises AddressUnconfirmed or OtherDomain if the loop does not admit the person."""
    if not loop.allowed_domains and not needs_confirmation(loop):
        return
    addresses = EmailAddress.objects.filter(user=user, verified=True)
    confirmed = set(addresses.values_list("email", flat=True))
    members = Membership.objects.filter(loop=loop, account_id=loop.creator_id)
    if members.filter(user=user).exists() or members.filter(email__in=confirmed).exists():
        return
    if loop.allowed_domains and read_domain(user.email) not in loop.allowed_domains:
        raise OtherDomain
    if user.email not in confirmed:
        raise AddressUnconfirmed


def needs_confirmation(loop: Loop) -> bool:
    """Tells whether only people with a confirmed address may join.

    Where the service sends no email nobody can confirm an address, so only domains need one.
    """
    required = loop.require_verified and settings.REQUIRE_CONFIRMED_ADDRESSES
    return bool(loop.allowed_domains) or required


def read_domain(address: str) -> str:
    """Returns the domain of an address as `clean_domains` stores it."""
    return fold(address.rpartition("@")[2])


def clean_domains(typed: list[str]) -> list[str]:
    """Returns the domains in lowercase ASCII, sorted, each once. Raises InvalidDomain."""
    try:
        domains = {fold(to_narrow(clean(domain)).removeprefix("@")) for domain in typed}
    except InvisibleCharacter:
        raise InvalidDomain from None
    if len(domains) > MAX_DOMAINS:
        raise InvalidDomain
    for domain in domains:
        try:
            _validate(domain)
        except ValidationError:
            raise InvalidDomain from None
    return sorted(domains)
