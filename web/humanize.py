"""Formats lengths of time and points in time for people."""

from datetime import datetime

STEPS = (("min", 60), ("h", 3600), ("d", 86400))
FAR = 7 * 86400  # seconds; times further away are shown as a date


def format_duration(seconds: float) -> str:
    """Formats seconds in the largest whole unit: "42 s", "5 min", "3 h", "2 d"."""
    text = f"{int(seconds)} s"
    for unit, length in STEPS:
        if seconds >= length:
            text = f"{int(seconds // length)} {unit}"
    return text


def format_countdown(seconds: float) -> str:
    """Formats seconds in two units below a day: "4 min 12 s", "3 h 5 min", "2 d"; minimum "0 s"."""
    text = format_duration(max(seconds, 0))
    for unit, length, smaller, part in (("min", 60, "s", 1), ("h", 3600, "min", 60)):
        rest = int(seconds % length // part)
        if text.endswith(f" {unit}") and rest:
            return f"{text} {rest} {smaller}"
    return text


def format_time_left(seconds: float) -> str:
    """Formats the time to a deadline: "4 min", "3 h 5 min", "2 d"; seconds in the last minute."""
    return format_countdown(seconds - seconds % 60 if seconds >= 60 else seconds)


def format_distance(value: datetime, now: datetime) -> str:
    """Formats a time relative to now: "just now", "5 min ago", "in 42 s"; a date after a week."""
    seconds = (now - value).total_seconds()
    if abs(seconds) >= FAR:
        year = "" if value.year == now.year else f" {value.year}"
        return f"{value.day} {value:%b}{year}"
    if -1 < seconds < 5:
        return "just now"
    return f"{format_duration(seconds)} ago" if seconds > 0 else f"in {format_duration(-seconds)}"
