"""Limits the time of a start, and reports its progress."""

import time
from collections.abc import Callable

from local import CannotStart
from local.processes import Check

START_WITHIN = 300.0  # seconds, from the first server to a green /readyz
REPORT_SECONDS = 5.0  # seconds
ATTEMPTS = 5  # starts of one process; those that follow wait 1, 2, 4 and 8 s


class StartDeadline:
    """The deadline of a start, which reports every few seconds what the start waits for."""

    def __init__(
        self, check: Check, say: Callable[[str], None], seconds: float = START_WITHIN
    ) -> None:
        self._check = check
        self._say = say
        self._seconds = seconds
        self._begun = time.monotonic()
        self._said = self._begun

    def wait_for(self, what: str) -> None:
        """Checks the deadline once while waiting for `what`. Raises Interrupted, CannotStart."""
        self._check()
        now = time.monotonic()
        if now - self._begun > self._seconds:
            raise CannotStart(f"Not ready after {self._seconds:.0f} s, still waiting for {what}")
        if now - self._said >= REPORT_SECONDS:
            self._said = now
            self._say(f"Starting for {now - self._begun:.0f} s, waiting for {what}")

    def waiting_for(self, what: str) -> Check:
        """Returns `wait_for` as a Check."""
        return lambda: self.wait_for(what)
