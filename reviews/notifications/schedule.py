"""When a failed notification is tried again, and what a push service's status means. Pure."""

from enum import Enum

PUSH_DELAYS = (2, 5, 15, 30, 60, 120, 300, 600, 600, 600, 600)
MAIL_DELAYS = (60, 300, 900, 3600)


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
