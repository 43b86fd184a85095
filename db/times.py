"""Times as the contract writes them: UTC, milliseconds, a Z."""

import time
from datetime import UTC, datetime


def iso(moment: datetime) -> str:
    """`YYYY-MM-DDTHH:MM:SS.mmmZ`."""
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.removesuffix("+00:00") + "Z"


def iso_from_unix(seconds: int) -> str:
    """The same, from a Unix time."""
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(seconds))


def next_hour(now: float) -> int:
    """The Unix time at which the hour of `now` ends."""
    return (int(now) // 3600 + 1) * 3600


def seconds_between(start: datetime, end: datetime) -> float:
    """The distance of two moments as a client sees them: in whole milliseconds."""
    return (_milliseconds(end) - _milliseconds(start)) / 1000


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp()) * 1000 + moment.microsecond // 1000
