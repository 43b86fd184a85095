"""Defines how long a loop keeps finished requests and their texts.

A loop may keep them for a shorter time than the service, never longer.
"""

from collections.abc import Mapping
from typing import Any

from django.conf import settings

MIN_DAYS = 4  # streams read events of the last three days, and webhooks are retried for almost four
MAX_DAYS = 30_000
COLUMNS = ("keep_texts_days", "keep_requests_days")

# Of the table of loops `l`, with the service's days as parameters, which may be null.
REQUESTS_DAYS = "least(l.keep_requests_days, %(requests)s::int)"
TEXTS_DAYS = "least(l.keep_texts_days, %(texts)s::int)"


def get_limits() -> dict[str, int | None]:
    """Returns the service's days for finished requests and texts; None is no limit."""
    return {"requests": settings.KEEP_REQUESTS_DAYS, "texts": settings.KEEP_TEXTS_DAYS}


def deletes_more(loop: Any, changes: Mapping[str, Any]) -> bool:
    """Tells whether the changes of a loop shorten how long something is kept."""
    return any(
        changes.get(column) is not None and changes[column] < (getattr(loop, column) or MAX_DAYS)
        for column in COLUMNS
    )


def describe_days(days: Mapping[str, int | None]) -> str:
    """Describes days for the audit log: 'texts 7 days, requests no limit'."""
    return ", ".join(
        f"{column.split('_')[1]} {f'{days[column]} days' if days[column] else 'no limit'}"
        for column in COLUMNS
        if column in days
    )
