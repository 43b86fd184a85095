"""Durations as people write them."""

from __future__ import annotations

import re
from datetime import timedelta

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_PATTERN = re.compile(r"(\d{1,9})\s*([smhd]?)")
SHORTEST, LONGEST, DEFERRED = 60, 86400, 30 * 86400
RULE = "a time-out is 60 seconds to 24 hours (90s, 10m, 24h), or 30d"


def read_seconds(duration: str | float | timedelta) -> int | None:
    """Reads "10m", a number of seconds, or a timedelta; None stands for 30 days.

    Raises ValueError.
    """
    if isinstance(duration, timedelta):
        seconds = round(duration.total_seconds())
    elif isinstance(duration, str):
        match = _PATTERN.fullmatch(duration.strip().lower())
        if not match:
            raise ValueError(f"{duration!r}: {RULE}")
        seconds = int(match[1]) * _UNITS[match[2]]
    else:
        seconds = round(duration)
    if seconds == DEFERRED:
        return None
    if not SHORTEST <= seconds <= LONGEST:
        raise ValueError(f"{duration!r}: {RULE}")
    return seconds
