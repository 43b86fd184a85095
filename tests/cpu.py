"""A bound for the CPU time of what a test does, however busy the machine is."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TooMuchCpu(Exception):
    """The bound was passed; raised where it happened."""


@contextmanager
def limited_cpu(seconds: float, what: object = "") -> Iterator[None]:
    """Raises TooMuchCpu once the block has used `seconds` of this process's user time.

    Regular expressions notice it while they match. Only for the main thread.
    """

    def end(_: int, __: FrameType | None) -> None:
        raise TooMuchCpu(f"more than {seconds:g} s of CPU time for {what!r}")

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
