"""Records the signals that ask the supervisor to stop."""

import os
import signal
from types import FrameType

from local import Interrupted


class Signals:
    """Records signals without acting on them, so that no child is lost while it starts."""

    def __init__(self) -> None:
        self.stop_requested = False
        self.stop_now = False
        self.wakeup, self._write_end = os.pipe()
        os.set_blocking(self.wakeup, False)
        os.set_blocking(self._write_end, False)
        signal.set_wakeup_fd(self._write_end, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._record)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # only wakes the main loop

    def _record(self, number: int, _frame: FrameType | None) -> None:
        # A second SIGTERM is ignored: make repeats one that its process group has received.
        if self.stop_requested and number == signal.SIGINT:
            self.stop_now = True
        self.stop_requested = True

    def check(self) -> None:
        """Raises Interrupted if a signal has asked to stop."""
        if self.stop_requested:
            raise Interrupted
