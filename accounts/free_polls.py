"""Counts free polls: a poll for an answer costs no call, at most one in each interval.

Redis counts them, so a poll writes nothing. While Redis is unreachable every poll is free.
"""

from django.core.cache import cache

from accounts import key_format

INTERVAL_SECONDS = 5  # as named to clients
AT_LEAST = INTERVAL_SECONDS - 1  # a second for networks that deliver unevenly


def take_free_poll(key: str, topic: str) -> bool:
    """Tells whether the key may poll the topic for free now; if so, begins the next interval."""
    if not key_format.is_well_formed(key):
        return False
    digest = key_format.digest(key).hex()
    return bool(cache.add(f"free-poll.{digest}.{topic}", 1, timeout=AT_LEAST))
