"""Compares, checks and locks email addresses.

Addresses are stored and compared in the lowercase of Python. PostgreSQL's upper() turns ı into I
and ſ into S, so Django's `iexact` could match the address of another person that looks similar.
"""

from django.core.exceptions import ValidationError
from django.db import connection
from django.db.models import Q
from django.db.models.functions import Lower
from django.db.models.lookups import Exact
from django.utils.translation import gettext as _


def match_email(email: str) -> Q:
    """Selects the rows with this `email`; uses the unique index on lower("email")."""
    address = email.lower()
    return Q(Exact(Lower("email"), address), email=address)


def validate_address(address: str) -> None:
    """Raises ValidationError if the part before the @ has non-ASCII letters; domains may have them.

    Django accepts some of these letters because their other case is a-z.
    """
    if not address.rpartition("@")[0].isascii():
        raise ValidationError(_("Enter a valid email address."), code="invalid")


def lock_address(address: str) -> None:
    """Lets nobody else confirm, reserve or release the address until the transaction ends.

    Take this lock before a lock on a user or a loop.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [address.lower()])
