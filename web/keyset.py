"""Pages of a list by the key of their last row, not by counting: each costs the same."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet, Subquery
from django.http import Http404, HttpRequest

from db.ids import normalize_id


@dataclass(frozen=True, slots=True)
class KeysetPage:
    """The rows of one page, newest first; `older` is the id that the next page begins behind."""

    rows: list[Any]
    is_first: bool = True
    older: str | None = None


def behind(request: HttpRequest) -> str | None:
    """The id in the URL that a page begins behind, None on the first page. Raises Http404."""
    raw_id = request.GET.get("before")
    if not raw_id:
        return None
    known = normalize_id(raw_id)
    if known is None:
        raise Http404
    return known


def read_page(
    rows: QuerySet[Any, Any],
    *,
    behind: str | None,
    among: QuerySet[Any, Any],
    size: int,
    moment: str = "created_at",
) -> KeysetPage:
    """The `size` newest rows by `moment` and id, behind the row with the id `behind`.

    That row is looked for `among` what the reader may see, filters aside; where it is not there,
    the page is empty.
    """
    found = list(newest(rows, behind=behind, among=among, moment=moment)[: size + 1])
    return cut(found, size, is_first=behind is None)


def newest(
    rows: QuerySet[Any, Any],
    *,
    behind: str | None,
    among: QuerySet[Any, Any],
    moment: str = "created_at",
) -> QuerySet[Any, Any]:
    """The rows behind the one with the id `behind`, in order."""
    if behind is not None:
        at = Subquery(among.filter(pk=behind).values(moment)[:1])
        is_older = Q(**{f"{moment}__lt": at}) | Q(**{moment: at}, pk__lt=behind)
        rows = rows.filter(is_older, **{f"{moment}__lte": at})  # where the index is entered
    return rows.order_by(f"-{moment}", "-pk")


def cut(found: list[Any], size: int, *, is_first: bool) -> KeysetPage:
    """A page out of up to `size` + 1 rows."""
    older = found[size - 1].pk if len(found) > size else None
    return KeysetPage(found[:size], is_first=is_first, older=older)
