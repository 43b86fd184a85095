"""The list of waiting questions beside the open one, which wide screens show."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from portal.progress import Progress
from portal.waiting import Waiting, read_rows
from reviews.plain_text import extract_headline
from web.humanize import format_time_left

MAX_LISTED = 30
MAX_HEADLINE = 90  # characters


def build_list(progress: Progress, waiting: Waiting, current: str) -> dict[str, Any]:
    """Builds the list in at most one statement; `is_top`: it begins with the most urgent one."""
    unsent = replace(progress, sent=None)
    ids = select_window(waiting.ids, current)
    rows = [
        {
            "item": item,
            "url": unsent.build_url(item.pk),
            "headline": extract_headline(item.request_text, MAX_HEADLINE),
            "left": format_time_left((item.timeout_at - item.now).total_seconds()),
            "is_current": item.pk == current,
        }
        for item in (read_rows(ids) if ids else [])
    ]
    return {"rows": rows, "is_top": ids == waiting.ids[: len(ids)]}


def select_window(ids: Sequence[str], current: str) -> list[str]:
    """Selects MAX_LISTED ids in their order: the first, or those around the current one."""
    at = ids.index(current) if current in ids else 0
    start = at - MAX_LISTED // 2 if at >= MAX_LISTED else 0
    return list(ids[start : start + MAX_LISTED])
