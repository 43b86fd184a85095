"""When a failed delivery is tried again. Pure.

Twelve attempts over about three days: at once, then after the delays below, each ±20 % so that
a receiver which comes back is not hit by everybody at once.
"""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

DELAYS = (5, 30, 120, 600, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
MAX_ATTEMPTS = len(DELAYS) + 1
JITTER = 0.2
MAX_RETRY_AFTER = 86_400
GONE = 410


def next_delay(
    *, failed_attempts: int, chance: float, retry_after: float | None = None, scale: float = 1.0
) -> float | None:
    """Seconds until the next attempt; None where the delivery is dead.

    `failed_attempts` counts from 1, `chance` is from 0 up to 1, `scale` shortens the schedule.
    The receiver's Retry-After lengthens the wait, up to a day.
    """
    if failed_attempts >= MAX_ATTEMPTS:
        return None
    planned = DELAYS[failed_attempts - 1] * (1 - JITTER + 2 * JITTER * chance) * scale
    return max(planned, min(retry_after or 0.0, MAX_RETRY_AFTER))


def longest(scale: float = 1.0) -> float:
    """The seconds that the whole schedule takes at most."""
    return sum(DELAYS) * (1 + JITTER) * scale


def read_retry_after(header: str | None, *, now: datetime) -> float | None:
    """The seconds that a Retry-After header asks for; None where it makes no sense."""
    if header is None:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(min(int(text[:9]), MAX_RETRY_AFTER))
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:  # the form of asctime, or -0000: both are UTC (RFC 9110, 5.6.7)
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
