"""Listings of requests: filters, orders and pages (specification, GET /api/requests)."""

from dataclasses import dataclass
from typing import Any

from api.envelope import as_json
from api.errors import InvalidLoopId, ValidationFailed
from api.pagination import Page, read_page
from db.ids import normalize_id
from reviews.lifecycle import states
from reviews.models import PRIORITIES
from reviews.queries import listing
from reviews.queries.listing import DEFAULT_ORDER, ORDERS


@dataclass(frozen=True, slots=True)
class Listing:
    """What a query string asks for."""

    status: str | None
    priority: str | None
    loop_id: str | None
    page: Page
    sort: str

    def of_account(self, account_id: str) -> dict[str, str]:
        """The `data` of a listing of what the account created; the values are JSON."""
        if self.loop_id is None:
            return self._of(listing.scope_to_account(account_id))
        return self._of(listing.scope_to_account_in_loop(account_id, self.loop_id))

    def of_loop(self, loop_id: str) -> dict[str, str]:
        """The `data` of a listing of what was sent to the loop; the values are JSON."""
        return {"loop_id": as_json(loop_id), **self._of(listing.scope_to_loop(loop_id))}

    def _of(self, scope: listing.Scope) -> dict[str, str]:
        page = self.page
        window = listing.ListParams(self.status, self.priority, self.sort, page.limit, page.offset)
        found = listing.fetch(scope, window)
        described = page.describe(count=len(found.ids), total=found.total)
        return {
            "requests": f"[{','.join(found.entries)}]",
            **{name: as_json(value) for name, value in described.items()},
        }


def read_listing(query: Any, *, with_loop: bool) -> Listing:
    """The listing of a query string, faults in the order of the specification's table.

    Raises ValidationFailed, InvalidLoopId.
    """
    status = _choice(query, "status", states.STATUSES)
    priority = _choice(query, "priority", PRIORITIES)
    loop_id = None
    if with_loop and "loop_id" in query:
        loop_id = normalize_id(query["loop_id"])
        if loop_id is None:
            raise InvalidLoopId
    page = read_page(query)
    sort = _choice(query, "sort", tuple(ORDERS)) or DEFAULT_ORDER
    return Listing(status=status, priority=priority, loop_id=loop_id, page=page, sort=sort)


def _choice(query: Any, name: str, choices: tuple[str, ...]) -> str | None:
    value: str | None = query.get(name)
    if value is not None and value not in choices:
        raise ValidationFailed(f"{name} must be one of: {', '.join(choices)}")
    return value
