"""Waiting for a condition instead of sleeping for a guess."""

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], object], seconds: float = 10.0) -> None:
    """Return as soon as `condition()` is true; fail when it is not after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not so after {seconds} s"
        time.sleep(0.02)
