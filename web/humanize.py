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


def countdown(seconds: float) -> str:
    """Two units below a day: "4 min 12 s", "3 h 5 min", "2 d"; "0 s" for what is over."""
    said = duration(max(seconds, 0))
    for unit, length, smaller, part in (("min", 60, "s", 1), ("h", 3600, "min", 60)):
        rest = int(seconds % length // part)
        if said.endswith(f" {unit}") and rest:
            return f"{said} {rest} {smaller}"
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
