"""Pagination by limit and offset, or by limit and cursor (docs/contract.md, `list.pagination`)."""

from dataclasses import dataclass
from typing import Any

from api.errors import ValidationFailed

DEFAULT_LIMIT = 50
MAX_LIMIT = 100
MAX_OFFSET = 2**31 - 1


@dataclass(frozen=True)
class Page:
    """The limit and the offset of one page of a list."""

    limit: int
    offset: int

    def describe(self, *, count: int, total: int) -> dict[str, Any]:
        """Builds the fields that accompany the rows: count, total, has_more and pagination."""
        has_more = self.offset + count < total
        return {
            "count": count,
            "total": total,
            "has_more": has_more,
            "pagination": {
                "limit": self.limit,
                "offset": self.offset,
                "next_offset": self.offset + count if has_more else None,
            },
        }

    def describe_by_cursor(
        self, *, count: int, total: int, next_cursor: str | None
    ) -> dict[str, Any]:
        """Builds the same fields for a list that is followed by cursor."""
        return {
            "count": count,
            "total": total,
            "has_more": next_cursor is not None,
            "pagination": {
                "limit": self.limit,
                "offset": 0,
                "next_offset": None,
                "next_cursor": next_cursor,
            },
        }


def read_page(query: Any) -> Page:
    """Reads limit and offset from a query string. Raises ValidationFailed."""
    limit = _read_integer(query, "limit", DEFAULT_LIMIT)
    if not 1 <= limit <= MAX_LIMIT:
        raise ValidationFailed(f"limit must be between 1 and {MAX_LIMIT}")
    offset = _read_integer(query, "offset", 0)
    if not 0 <= offset <= MAX_OFFSET:
        raise ValidationFailed(f"offset must be between 0 and {MAX_OFFSET}")
    return Page(limit=limit, offset=offset)


def _read_integer(query: Any, name: str, default: int) -> int:
    text = query.get(name)
    if text is None:
        return default
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 18):
        raise ValidationFailed(f"{name} must be an integer")
    return int(text)
