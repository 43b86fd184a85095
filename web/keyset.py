"""Keyset pagination: a page starts after the last row of the previous one, at constant cost."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest

Rows = TypeVar("Rows", bound=QuerySet[Any, Any])
Place = tuple[datetime, str]
"""The moment and the id of a row, which may be deleted meanwhile."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# Microseconds since 1970, up to the year 5138, and an id.
_CURSOR = re.compile(r"([0-9]{1,17})-([0-9a-f]{24})", re.ASCII)


@dataclass(frozen=True, slots=True)
class KeysetPage:
    """The rows of one page, newest first. `older` is the cursor of the next page."""

    rows: list[Any]
    is_first: bool = True
    older: str | None = None


def read_cursor(request: HttpRequest) -> Place | None:
    """Reads the cursor from the URL; None on the first page.

    Raises Http404.
    """
    cursor = request.GET.get("before")
    if not cursor:
        return None
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise Http404
    return _EPOCH + int(match[1]) * _MICROSECOND, match[2]


def format_cursor(place: Place) -> str:
    """Formats a cursor for a URL."""
    moment, row_id = place
    return f"{(moment - _EPOCH) // _MICROSECOND}-{row_id}"


def read_page(
    rows: QuerySet[Any, Any], *, after: Place | None, size: int, moment: str = "created_at"
) -> KeysetPage:
    """Reads the `size` newest rows after a cursor, by the column `moment` and then id."""
    page_rows = list(select_newest(rows, after=after, moment=moment)[: size + 1])
    return build_page(page_rows, size, is_first=after is None, moment=moment)


def select_newest(rows: Rows, *, after: Place | None, moment: str = "created_at") -> Rows:
    """Selects the rows after a cursor, newest first."""
    if after is not None:
        at, row_id = after
        is_older = Q(**{f"{moment}__lt": at}) | Q(**{moment: at}, pk__lt=row_id)
        rows = rows.filter(is_older, **{f"{moment}__lte": at})  # lets the index find the start
    return rows.order_by(f"-{moment}", "-pk")


def build_page(
    rows: list[Any], size: int, *, is_first: bool, moment: str = "created_at"
) -> KeysetPage:
    """Builds a page from up to `size` + 1 rows; the extra row shows that there are more."""
    older = None
    if len(rows) > size:
        last = rows[size - 1]
        older = format_cursor((getattr(last, moment), last.pk))
    return KeysetPage(rows[:size], is_first=is_first, older=older)
