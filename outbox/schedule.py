"""When a failed attempt is repeated: the back-off of webhooks, pushes and emails. Pure."""

from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

JITTER = 0.2  # spreads the retries to a receiver that comes back
MAX_RETRY_AFTER = 86_400


def next_delay(
    delays: Sequence[int],
    *,
    failed_attempts: int,
    chance: float,
    retry_after: float | None = None,
    scale: float = 1.0,
) -> float | None:
    """Seconds until the next attempt; None after the last one.

    `delays` are the planned seconds after each failed attempt, each varied by ±20 %.
    `failed_attempts` counts from 1, `chance` is from 0 up to 1, `scale` shortens the plan.
    A Retry-After of the receiver lengthens the delay, up to a day.
    """
    if failed_attempts > len(delays):
        return None
    planned = delays[failed_attempts - 1] * (1 - JITTER + 2 * JITTER * chance) * scale
    return max(planned, min(retry_after or 0.0, MAX_RETRY_AFTER))


def longest(delays: Sequence[int], *, scale: float = 1.0) -> float:
    """The most seconds that a whole plan can take."""
    return sum(delays) * (1 + JITTER) * scale


def read_retry_after(header: str | None, *, now: datetime) -> float | None:
    """The seconds that a Retry-After header asks for; None if it is malformed."""
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
