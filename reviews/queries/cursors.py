"""Reads the cursor of a list of requests: the place where its next page begins.

It holds what the list sorts by, of the last request on the page before, such as
`1764060000123456.019df2b0aa10c3d4e5f60718`. So it stays right when requests leave the list.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from db.ids import normalize_id
from reviews.lifecycle import states
from reviews.models import PRIORITIES
from reviews.queries.listing import ORDERS

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECONDS = re.compile("[0-9]{1,17}")  # until the year 5138


def read_cursor(text: str, sort: str) -> dict[str, Any]:
    """Returns the values of the cursor by column; none at the beginning. Raises ValueError."""
    if not text:
        return {}
    columns = [part.split()[0] for part in ORDERS[sort]]
    values = [_READERS[name](part) for name, part in zip(columns, text.split("."), strict=True)]
    return dict(zip(columns, values, strict=True))


def _read_created_at(text: str) -> datetime:
    if not _MICROSECONDS.fullmatch(text):
        raise ValueError(text)
    return _EPOCH + timedelta(microseconds=int(text))


def _read_id(text: str) -> str:
    normal = normalize_id(text)
    if normal is None:
        raise ValueError(text)
    return normal


_READERS: dict[str, Any] = {
    "created_at": _read_created_at,
    "id": _read_id,
    "priority_rank": [str(rank) for rank in range(len(PRIORITIES))].index,
    "status": lambda text: states.STATUSES[states.STATUSES.index(text)],
}
