"""When a notification that failed is tried again, and what an answer means. Pure."""

from enum import Enum

PUSH_DELAYS = (2, 5, 15, 30, 60, 120, 300, 600, 600, 600, 600)
MAIL_DELAYS = (60, 300, 900, 3600)
JITTER = 0.2


class Meaning(Enum):
    """What a push service's status says."""

    ACCEPTED = "accepted"
    GONE = "gone"
    LATER = "later"
    NEVER = "never"


def meaning(status: int) -> Meaning:
    """RFC 8030: 404 and 410 are subscriptions that ended, 429 and 5xx pass."""
    if 200 <= status < 300:
        return Meaning.ACCEPTED
    if status in (404, 410):
        return Meaning.GONE
    if status == 429 or status >= 500:
        return Meaning.LATER
    return Meaning.NEVER


def next_delay(
    delays: tuple[int, ...],
    *,
    failed_attempts: int,
    chance: float,
    retry_after: float | None = None,
) -> float | None:
    """Seconds until the next attempt; None where there is none. `failed_attempts` counts from 1,
    `chance` is from 0 up to 1. The service's Retry-After lengthens the wait."""
    if failed_attempts > len(delays):
        return None
    planned = delays[failed_attempts - 1] * (1 - JITTER + 2 * JITTER * chance)
    return max(planned, retry_after or 0.0)
