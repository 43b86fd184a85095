"""When two e-mail addresses are the same.

They are stored and compared as Python lowers them, to the letter. PostgreSQL's upper() makes I of ı
and S of ſ, so a comparison by it, such as Django's `iexact`, would take a look-alike for the
address of somebody else.
"""

from django.core.exceptions import ValidationError
from django.db.models import Q
from django.db.models.functions import Lower
from django.db.models.lookups import Exact


def of_address(typed: str) -> Q:
    """The rows whose `email` it is, found by the unique index on lower("email")."""
    address = typed.lower()
    return Q(Exact(Lower("email"), address), email=address)


def validate_address(address: str) -> None:
    """Raises ValidationError where letters other than a-z stand before the @: Django lets those
    through that become a-z in another case. Domains may have any letters."""
    if not address.rpartition("@")[0].isascii():
        raise ValidationError("Enter a valid email address.", code="invalid")
