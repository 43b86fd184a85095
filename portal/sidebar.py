"""Builds the sidebar with the waiting questions, which wide screens show beside the open one.

It reads little, because every answer renders it again.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.db.models import F
from django.db.models.functions import Left, Now

from portal.progress import Progress
from reviews.models import Request
from reviews.plain_text import extract_headline
from reviews.queries.open_questions import Waiting
from web.humanize import format_time_left

MAX_LISTED = 20
MAX_HEADLINE = 90  # characters
MAX_READ = 500  # characters of a text


def build_list(progress: Progress, waiting: Waiting, current: str) -> dict[str, Any]:
    """Builds the list in at most one statement. `is_top`: it begins with the most urgent one."""
    unsent = replace(progress, sent=None)
    ids = select_window(waiting.ids, current)
    rows = [
        {
            **row,
            "url": unsent.build_url(row["id"]),
            "headline": extract_headline(row["text"], MAX_HEADLINE),
            "left": format_time_left((row["timeout_at"] - row["now"]).total_seconds()),
            "is_current": row["id"] == current,
        }
        for row in (_read_rows(ids) if ids else [])
    ]
    return {"rows": rows, "is_top": ids == waiting.ids[: len(ids)]}


def select_window(ids: Sequence[str], current: str) -> list[str]:
    """Selects MAX_LISTED ids in their order: the first, or those around the current one."""
    at = ids.index(current) if current in ids else 0
    start = at - MAX_LISTED // 2 if at >= MAX_LISTED else 0
    return list(ids[start : start + MAX_LISTED])


def _read_rows(ids: list[str]) -> list[dict[str, Any]]:
    """Reads what the list shows of these requests, in this order."""
    rows = Request.objects.filter(pk__in=ids).values(
        "id",
        "priority",
        "timeout_at",
        now=Now(),
        text=Left("request_text", MAX_READ),
        loop_name=F("loop__name"),
    )
    by_id: dict[str, Any] = {row["id"]: row for row in rows}
    return [by_id[each] for each in ids if each in by_id]
