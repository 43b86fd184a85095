"""Reads standing grants for the pages of their person and of their account."""

from reviews.models.grants import GrantQuerySet
from web.keyset import KeysetPage, Place, read_page

PER_PAGE = 25


def read_grants(rows: GrantQuerySet, *, after: Place | None) -> KeysetPage:
    """Reads a page of grants, the newest first, with loop, person, key and `now`."""
    shown = rows.with_clock().select_related("loop", "person", "api_key")
    return read_page(shown, after=after, size=PER_PAGE)
