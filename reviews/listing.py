"""Listings of requests: filters, orders and pages (specification, GET /api/requests)."""

from dataclasses import dataclass
from typing import Any

from config.errors import InvalidLoopId, ValidationFailed
from config.ids import normalize_id
from config.pagination import Page, read_page
from reviews import states
from reviews.models import PRIORITIES, SEEN, RequestQuerySet

ORDERS: dict[str, tuple[str, ...]] = {
    "created_at_desc": ("-created_at", "-id"),
    "created_at_asc": ("created_at", "id"),
    "priority_desc": ("-priority_rank", "-created_at", "-id"),
    "status_asc": ("seen_status", "-created_at", "-id"),
}
DEFAULT_ORDER = "created_at_desc"


@dataclass(frozen=True, slots=True)
class Listing:
    """What a query string asks for."""

    status: str | None
    priority: str | None
    loop_id: str | None
    page: Page
    sort: str

    def rows(self, requests: RequestQuerySet) -> tuple[list[Any], int]:
        """The page's rows as they are seen now, and how many match in all."""
        if self.status is not None:
            requests = requests.filter(SEEN[self.status])
        if self.priority is not None:
            requests = requests.filter(priority=self.priority)
        if self.loop_id is not None:
            requests = requests.filter(loop_id=self.loop_id)
        total = requests.count()
        ordered = requests.seen().order_by(*ORDERS[self.sort])
        window = ordered[self.page.offset : self.page.offset + self.page.limit]
        return [request.as_seen() for request in window], total


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
