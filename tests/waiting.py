"""Waiting for a condition instead of sleeping for a guess."""

import os
import time
from collections.abc import Callable

USUAL = 10.0  # seconds, on a quiet machine
MAX = 60.0
# Between two looks: what takes long is looked at less often, so that looking takes no time from it.
MIN_PAUSE, MAX_PAUSE = 0.01, 0.1


def stretched(seconds: float = USUAL) -> float:
    """The seconds that a test waits at most: multiplied by the load of each core where there is
    more than one process for it, up to a minute."""
    crowd = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    return max(seconds, min(seconds * crowd, MAX))


def wait_until(condition: Callable[[], object], seconds: float = USUAL) -> None:
    """Return as soon as `condition()` is true; fail when it is not after `seconds`, stretched."""
    begun, pause = time.monotonic(), MIN_PAUSE
    while not condition():
        waited = time.monotonic() - begun
        assert waited < stretched(seconds), f"not so after {waited:.0f} s"
        time.sleep(pause)
        pause = min(pause * 1.2, MAX_PAUSE)
