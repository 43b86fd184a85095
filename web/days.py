"""Days of the calendar, where the reader is."""

from datetime import date, datetime, time, timedelta

from django.utils import timezone


def midnight(day: date, *, days_later: int = 0) -> datetime | None:
    """When a day begins; None behind the last one that there is."""
    try:
        return timezone.make_aware(datetime.combine(day + timedelta(days=days_later), time.min))
    except OverflowError:
        return None
