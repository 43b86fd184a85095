"""Query parameters of request lists: filters, order and page (docs/contract.md, `list`)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from api.errors import InvalidLoopId, ValidationFailed
from api.pagination import Page, read_page
from db.ids import normalize_id
from reviews.lifecycle import states
from reviews.models import PRIORITIES
from reviews.models.metadata import MAX_KEY, MAX_PAIRS, MAX_VALUE, write_pairs
from reviews.queries import cursors, listing
from reviews.queries.listing import DEFAULT_ORDER, ORDERS


@dataclass(frozen=True, slots=True)
class ListParams:
    """The checked query parameters of a list of requests."""

    status: str | None
    priority: str | None
    loop_id: str | None
    page: Page
    sort: str
    cursor: dict[str, Any] | None
    metadata: Mapping[str, str] = field(default_factory=dict)

    def fetch_for_account(self, account_id: str) -> dict[str, Any]:
        """Fetches the account's requests and returns `data`."""
        if self.loop_id is None:
            return self._fetch(listing.scope_to_account(account_id), account_id)
        return self._fetch(listing.scope_to_account_in_loop(account_id, self.loop_id), account_id)

    def fetch_for_loop(self, loop_id: str, *, account_id: str) -> dict[str, Any]:
        """Fetches the loop's requests and returns `data`.

        With metadata, only those that the account created: its own is the only one that it sees.
        """
        return {"loop_id": loop_id, **self._fetch(listing.scope_to_loop(loop_id), account_id)}

    def _fetch(self, scope: listing.Scope, account_id: str) -> dict[str, Any]:
        page = self.page
        window = listing.ListParams(
            status=self.status,
            priority=self.priority,
            sort=self.sort,
            limit=page.limit,
            offset=page.offset,
            cursor=self.cursor,
            pairs=tuple(write_pairs(account_id, self.metadata)),
        )
        rows = listing.fetch(scope, window)
        if self.cursor is None:
            page_fields = page.describe(count=len(rows.ids), total=rows.total)
        else:
            page_fields = page.describe_by_cursor(
                count=len(rows.ids), total=rows.total, next_cursor=rows.next_cursor
            )
        return {"requests": rows.entries, **page_fields}


def read_list_params(query: Any, *, with_loop: bool) -> ListParams:
    """Reads the query parameters in the order of the rows `list` in docs/contract.md.

    Raises ValidationFailed, InvalidLoopId.
    """
    status = _read_choice(query, "status", states.STATUSES)
    priority = _read_choice(query, "priority", PRIORITIES)
    loop_id = read_loop_filter(query) if with_loop else None
    page = read_page(query)
    sort = _read_choice(query, "sort", tuple(ORDERS)) or DEFAULT_ORDER
    cursor = _read_cursor(query, sort, page)
    metadata = _read_metadata(query)
    return ListParams(status, priority, loop_id, page, sort, cursor, metadata)


def read_loop_filter(query: Any) -> str | None:
    """Returns the `loop_id` of the query; None if there is none. Raises InvalidLoopId."""
    if "loop_id" not in query:
        return None
    loop_id = normalize_id(query["loop_id"])
    if loop_id is None:
        raise InvalidLoopId
    return loop_id


def _read_cursor(query: Any, sort: str, page: Page) -> dict[str, Any] | None:
    if "cursor" not in query:
        return None
    if page.offset:
        raise ValidationFailed("offset must be 0 with a cursor")
    try:
        return cursors.read_cursor(query["cursor"], sort)
    except ValueError:
        raise ValidationFailed(
            "cursor must be empty, or the next_cursor of a page with the same sort"
        ) from None


def _read_metadata(query: Any) -> dict[str, str]:
    """Reads parameters such as `metadata[order]=1042`. One that is written wrongly filters nothing,
    so it is refused."""
    metadata: dict[str, str] = {}
    for name in query:
        if name != "metadata" and not name.startswith("metadata["):
            continue
        key = name.removeprefix("metadata[").removesuffix("]")
        if len(name) != len(key) + len("metadata[]") or not 1 <= len(key) <= MAX_KEY:
            raise ValidationFailed(
                f"metadata must be written as metadata[name]=value, with a name of 1 to {MAX_KEY} "
                "characters"
            )
        if "\0" in key:
            raise ValidationFailed("a name in metadata must not contain NUL characters")
        metadata[key] = _read_paired(name, query.getlist(name))
    if len(metadata) > MAX_PAIRS:
        raise ValidationFailed(f"metadata must have at most {MAX_PAIRS} entries")
    return metadata


def _read_paired(name: str, values: list[str]) -> str:
    if len(set(values)) > 1:
        raise ValidationFailed(f"{name} must have one value")
    if len(values[0]) > MAX_VALUE:
        raise ValidationFailed(f"{name} must be at most {MAX_VALUE} characters")
    if "\0" in values[0]:
        raise ValidationFailed(f"{name} must not contain NUL characters")
    return values[0]


def _read_choice(query: Any, name: str, choices: tuple[str, ...]) -> str | None:
    value: str | None = query.get(name)
    if value is not None and value not in choices:
        raise ValidationFailed(f"{name} must be one of: {', '.join(choices)}")
    return value
