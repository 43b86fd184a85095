"""Keyset pagination: a page starts after the last row of the one before, so all cost the same."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from django.db.models import Q, QuerySet, Subquery
from django.http import Http404, HttpRequest

from db.ids import normalize_id

Rows = TypeVar("Rows", bound=QuerySet[Any, Any])
# The moment and the id of a row. With the moment itself, the row may be deleted meanwhile.
Place = tuple[datetime | Subquery, str]


@dataclass(frozen=True, slots=True)
class KeysetPage:
    """The rows of one page, newest first. `older` is the cursor of the next page: a row's id."""

    rows: list[Any]
    is_first: bool = True
    older: str | None = None


def read_cursor(request: HttpRequest) -> str | None:
    """Reads from the URL the id of the row before the page; None on the first. Raises Http404."""
    raw_id = request.GET.get("before")
    if not raw_id:
        return None
    cursor = normalize_id(raw_id)
    if cursor is None:
        raise Http404
    return cursor


def read_page(
    rows: QuerySet[Any, Any],
    *,
    cursor: str | None,
    among: QuerySet[Any, Any],
    size: int,
    moment: str = "created_at",
) -> KeysetPage:
    """Reads the `size` newest rows, by the column `moment` and then id, after the row `cursor`.

    `among` are all rows that the person may see, without filters. If the row `cursor` is not one
    of them, the page is empty.
    """
    after = find_place(cursor, among=among, moment=moment)
    page_rows = list(select_newest(rows, after=after, moment=moment)[: size + 1])
    return build_page(page_rows, size, is_first=cursor is None)


def find_place(
    cursor: str | None, *, among: QuerySet[Any, Any], moment: str = "created_at"
) -> Place | None:
    """Returns the place of the row `cursor`, whose moment is read by the statement that uses it."""
    if cursor is None:
        return None
    return Subquery(among.filter(pk=cursor).values(moment)[:1]), cursor


def select_newest(rows: Rows, *, after: Place | None, moment: str = "created_at") -> Rows:
    """Selects the rows after a place, newest first."""
    if after is not None:
        at, pk = after
        is_older = Q(**{f"{moment}__lt": at}) | Q(**{moment: at}, pk__lt=pk)
        rows = rows.filter(is_older, **{f"{moment}__lte": at})  # lets the index find the start
    return rows.order_by(f"-{moment}", "-pk")


def build_page(rows: list[Any], size: int, *, is_first: bool) -> KeysetPage:
    """Builds a page from up to `size` + 1 rows; the extra row shows that there are more."""
    older = rows[size - 1].pk if len(rows) > size else None
    return KeysetPage(rows[:size], is_first=is_first, older=older)
