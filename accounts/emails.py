"""Compares, checks and locks email addresses.

Addresses are stored and compared in the lowercase of Python, with the domain in the form of the
DNS: bücher.example and xn--bcher-kva.example are one domain. PostgreSQL's upper() turns ı into I
and ſ into S, so Django's `iexact` could match the address of another person that looks similar.
"""

from django.core.exceptions import ValidationError
from django.db import connection
from django.db.models import Q
from django.db.models.functions import Lower
from django.db.models.lookups import Exact
from django.utils.translation import gettext as _

from web import domains
from web.pasted import InvisibleCharacter, clean, to_narrow


def match_email(email: str) -> Q:
    """Selects the rows with this `email`; uses the unique index on lower("email")."""
    address = fold_address(email)
    return Q(Exact(Lower("email"), address), email=address)


def clean_address(typed: str) -> str:
    """Returns a typed or pasted address as it is stored. Raises ValidationError.

    Blanks and invisible characters around it are dropped; inside they are refused.
    """
    try:
        text = clean(to_narrow(typed))
        local, at, domain = text.rpartition("@")
        return f"{local.lower()}@{domains.to_ascii(domain)}" if at else text.lower()
    except InvisibleCharacter:
        raise ValidationError(
            _("The address has an invisible character inside. Type it instead of pasting it."),
            code="invalid",
        ) from None
    except UnicodeError:
        raise ValidationError(_("Enter a valid email address."), code="invalid") from None


def fold_address(address: str) -> str:
    """Returns the stored form of an address, for comparing. Accepts any text."""
    local, at, domain = address.rpartition("@")
    return f"{local.lower()}@{domains.fold(domain)}" if at else address.lower()


def is_address(typed: str, address: str) -> bool:
    """Tells whether a person typed this address."""
    try:
        return clean_address(typed) == fold_address(address)
    except ValidationError:
        return False


def validate_address(address: str) -> None:
    """Raises ValidationError if the part before the @ has non-ASCII letters; domains may have them.

    Django accepts some of these letters because their other case is a-z.
    """
    if not address.rpartition("@")[0].isascii():
        raise ValidationError(_("Enter a valid email address."), code="invalid")


def lock_address(address: str) -> None:
    """Locks the address: nobody else confirms, reserves or releases it until the transaction ends.

    Take this lock before a lock on a user or a loop.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [fold_address(address)]
        )
