"""Formats durations and times for people, in their language."""

from datetime import datetime

from django.utils import dateformat
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

DAY, HOUR, MINUTE = 86400, 3600, 60  # seconds
FAR = 7 * DAY  # times further away are shown as a date


def format_duration(seconds: float) -> str:
    """Formats seconds in the largest whole unit: "42 s", "5 min", "3 h", "2 d"."""
    if seconds >= DAY:
        return _("%(count)s d") % {"count": int(seconds // DAY)}
    if seconds >= HOUR:
        return _("%(count)s h") % {"count": int(seconds // HOUR)}
    if seconds >= MINUTE:
        return _("%(count)s min") % {"count": int(seconds // MINUTE)}
    return _("%(count)s s") % {"count": int(seconds)}


def format_countdown(seconds: float) -> str:
    """Formats seconds in two units below a day: "4 min 12 s", "3 h 5 min", "2 d"; minimum "0 s"."""
    left = max(seconds, 0)
    text = format_duration(left)
    rest = 0.0
    if HOUR <= left < DAY:
        rest = left % HOUR // MINUTE * MINUTE
    elif MINUTE <= left < HOUR:
        rest = left % MINUTE // 1
    return f"{text} {format_duration(rest)}" if rest else text


def format_time_left(seconds: float) -> str:
    """Formats the time to a deadline: "4 min", "3 h 5 min", "2 d"; seconds in the last minute."""
    return format_countdown(seconds - seconds % 60 if seconds >= 60 else seconds)


def format_distance(value: datetime, now: datetime) -> str:
    """Formats a time relative to now: "just now", "5 min ago", "in 42 s"; a date after a week."""
    seconds = (now - value).total_seconds()
    if abs(seconds) >= FAR:
        pattern = pgettext("date", "j M") if value.year == now.year else pgettext("date", "j M Y")
        return dateformat.format(value, pattern)
    if -1 < seconds < 5:
        return _("just now")
    if seconds > 0:
        return _("%(duration)s ago") % {"duration": format_duration(seconds)}
    return _("in %(duration)s") % {"duration": format_duration(-seconds)}


def format_moment(value: datetime, *, with_seconds: bool = False) -> str:
    """Formats date, time and time zone: "3 Mar 2026, 13:00 CET"."""
    pattern = (
        pgettext("date", "j M Y, H:i:s T") if with_seconds else pgettext("date", "j M Y, H:i T")
    )
    return dateformat.format(value, pattern)


def format_long_moment(value: datetime) -> str:
    """Formats a time for an email: "3 March 2026, 13:00 CET"."""
    return dateformat.format(value, pgettext("date", "j F Y, H:i T"))


def format_count(count: int) -> str:
    """Formats a whole number with the separators of the page's language: "1,204"."""
    return number_format(count, use_l10n=True, force_grouping=True)
