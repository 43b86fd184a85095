"""What the terminal, make or an operator ask of the supervisor."""

import os
import signal
from types import FrameType

from local import Interrupted


class Signals:
    """Remembers instead of acting, so that no child is lost between its start and our list."""

    def __init__(self) -> None:
        self.asked = False
        self.impatient = False
        self.wakeup, self._write_end = os.pipe()
        os.set_blocking(self.wakeup, False)
        os.set_blocking(self._write_end, False)
        signal.set_wakeup_fd(self._write_end, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._remember)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # only to be woken

    def _remember(self, number: int, _frame: FrameType | None) -> None:
        # make passes a SIGTERM on that its process group had already got: that is no impatience.
        if self.asked and number == signal.SIGINT:
            self.impatient = True
        self.asked = True

    def check(self) -> None:
        """Raises Interrupted once somebody has asked for the end."""
        if self.asked:
            raise Interrupted
