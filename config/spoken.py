"""Numbers and times as a person says them."""

from datetime import datetime

STEPS = (("min", 60), ("h", 3600), ("d", 86400))
FAR = 7 * 86400  # seconds; further away a date says more


def duration(seconds: float) -> str:
    """The largest unit that fits, whole: "42 s", "5 min", "3 h", "2 d"."""
    said = f"{int(seconds)} s"
    for unit, length in STEPS:
        if seconds >= length:
            said = f"{int(seconds // length)} {unit}"
    return said


def distance(value: datetime, now: datetime) -> str:
    """How far a moment is from now: "just now", "5 min ago", "in 42 s"; a date beyond a week."""
    seconds = (now - value).total_seconds()
    if abs(seconds) >= FAR:
        year = "" if value.year == now.year else f" {value.year}"
        return f"{value.day} {value:%b}{year}"
    if -1 < seconds < 5:
        return "just now"
    return f"{duration(seconds)} ago" if seconds > 0 else f"in {duration(-seconds)}"
