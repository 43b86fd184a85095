"""A child process of the supervisor, running or waiting for its next start."""

import subprocess
import time
from collections.abc import Callable

from local.processes import Check

MAX_DELAY = 30.0  # seconds
STEADY_AFTER = 10.0  # seconds of running after which the delay is reset to one second


class Child:
    """A process of the service. `start` returns once it serves, `stop` ends it."""

    def __init__(
        self,
        name: str,
        start: Callable[[Check], subprocess.Popen[bytes]],
        stop: Callable[[subprocess.Popen[bytes]], None],
    ) -> None:
        self.name = name
        self.process: subprocess.Popen[bytes] | None = None
        self.due = 0.0
        self.starts = 0
        self._start = start
        self._stop = stop
        self._delay = 1.0
        self._started = 0.0

    def start(self, check: Check) -> None:
        self._started = time.monotonic()
        self.starts += 1
        self.process = self._start(check)

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def postpone(self) -> float:
        """Sets the next start, later each time, and returns the seconds until then."""
        if time.monotonic() - self._started > STEADY_AFTER:
            self._delay = 1.0
        delay = self._delay
        self._delay = min(delay * 2, MAX_DELAY)
        self.due = time.monotonic() + delay
        return delay

    def stop(self) -> None:
        """Ends the process and everything that it started."""
        if self.process is not None:
            self._stop(self.process)
            self.process = None
