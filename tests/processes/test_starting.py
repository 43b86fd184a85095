"""`make run` while it starts: what dies or is slow is waited for, and it says what it waits for."""

import os
import re
import signal
from pathlib import Path

from tests.processes.conftest import StackMaker
from tests.processes.stack import Stack
from tests.waiting import wait_until

STARTS_WITHIN = 120.0  # seconds


def find(stack: Stack, pattern: str) -> int | None:
    """The oldest process whose command matches, if there is one yet."""
    found = [pid for pid, command in stack.processes().items() if re.search(pattern, command)]
    return min(found, default=None)


def strike(stack: Stack, pattern: str, number: int = signal.SIGKILL) -> int:
    """Signals a process as soon as it is there; returns its pid."""
    wait_until(lambda: find(stack, pattern) or stack.ended(), STARTS_WITHIN)
    pid = stack.pid_of(pattern)
    assert not stack.ready_line()
    os.kill(pid, number)
    return pid


def becomes_ready(stack: Stack) -> None:
    wait_until(lambda: stack.ready_line() or stack.ended(), STARTS_WITHIN)
    assert stack.ready_line(), stack.output()


def test_what_dies_while_starting_is_started_again(new_stack: StackMaker) -> None:
    """Each in its turn, in one start: a start takes six seconds of CPU time."""
    stack = new_stack(fresh=True).start()
    for first, *others in (
        (r"bin/initdb",),
        (r"(redis|valkey)-server",),
        (r"manage\.py migrate", r"bin/postgres -D"),
        (r"manage\.py createdemo", r"bin/postgres -D", r"(redis|valkey)-server"),
        (r"-m front ",),
    ):
        if others:  # they die while the first is at work
            wait_until(lambda first=first: find(stack, first) or stack.ended(), 60)  # type: ignore[misc]
        for pattern in others or [first]:
            strike(stack, pattern)

    becomes_ready(stack)

    key = stack.manage("createapikey", "started@example.com").strip()
    assert stack.call(key).status_code == 200


def test_it_says_what_it_waits_for(new_stack: StackMaker) -> None:
    stack = new_stack().start()
    for pattern, words in (
        (r"manage\.py migrate", "manage.py migrate"),
        (r"-m front ", "/readyz: "),
    ):
        pid = strike(stack, pattern, signal.SIGSTOP)
        wait_until(
            lambda words=words: re.search(  # type: ignore[misc]
                rf"Starting for \d+ s, waiting for {re.escape(words)}", stack.output()
            ),
            30,
        )
        os.kill(pid, signal.SIGCONT)

    becomes_ready(stack)


def test_what_ends_again_and_again_ends_the_start(new_stack: StackMaker) -> None:
    stack = new_stack(WEB_THREADS="none").start()

    assert stack.wait_for_end(STARTS_WITHIN) != 0
    assert "web ended 5 times while it was starting" in stack.output()
    assert "Traceback" not in stack.output()


def test_a_signal_ends_the_wait(new_stack: StackMaker) -> None:
    stack = new_stack().start()
    strike(stack, r"manage\.py migrate", signal.SIGSTOP)
    stack.signal_make(signal.SIGTERM)
    stack.wait_for_end()
    assert stack.stopped_cleanly()
    assert not Path(stack.data / "env").exists()
