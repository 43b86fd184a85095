"""Calendar days in the time zone of the current user."""

from datetime import date, datetime, time, timedelta

from django.utils import timezone


def midnight(day: date, *, days_later: int = 0) -> datetime | None:
    """Returns the start of a day; None if the date is beyond the last supported one."""
    try:
        return timezone.make_aware(datetime.combine(day + timedelta(days=days_later), time.min))
    except OverflowError:
        return None
