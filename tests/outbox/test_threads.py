"""Threads that begin with the first work and end when there was none."""

import threading

import pytest

from outbox.threads import Threads
from tests.waiting import wait_until


@pytest.mark.parametrize("_", range(30))
def test_no_work_waits_behind_a_busy_thread(_: int) -> None:
    """Also if it is submitted in the moment in which an idle thread takes other work."""
    threads, free, began = Threads(2, name="test", idle=5), threading.Event(), []
    threads.submit(lambda: None)
    threads.settle()

    def work() -> None:
        began.append(1)
        free.wait(10)

    threads.submit(work)
    wait_until(lambda: threads._work.empty())
    threads.submit(work)
    wait_until(lambda: len(began) == 2, 5)
    free.set()
    threads.close()
    assert not threads._alive


def test_they_end_by_themselves() -> None:
    threads = Threads(2, name="test", idle=0.01)
    threads.submit(lambda: None)
    wait_until(lambda: not threads._alive)
    threads.submit(lambda: None)
    threads.settle()
    threads.close()
