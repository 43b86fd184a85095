"""The children's lines on our own output."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from local.output import Output


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


def child(script: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)


def test_every_line_has_its_child_before_it(pipe: tuple[int, int]) -> None:
    wakeup, _ = os.pipe()
    output = Output(wakeup, pipe[1])
    process = child("print('one'); print('two', end='')")
    output.follow("web", process.stdout)
    process.wait()
    output.pump(5)
    output.pump(5)

    assert os.read(pipe[0], 1000) == b"web    | one\nweb    | two\n"
    os.close(wakeup)


def test_a_reader_that_stalls_holds_up_nobody(pipe: tuple[int, int]) -> None:
    wakeup, write_end = os.pipe()
    output = Output(wakeup, pipe[1])
    for _ in range(100):  # far more than a pipe holds
        output.say("x" * 3000)

    assert len(os.read(pipe[0], 1_000_000)) >= 3000
    output.say("it reads again")
    assert os.read(pipe[0], 1_000_000).endswith(b"it reads again\n")
    os.close(wakeup)
    os.close(write_end)


def test_a_reader_that_is_gone_holds_up_nobody() -> None:
    wakeup, write_end = os.pipe()
    read_end, descriptor = os.pipe()
    os.close(read_end)
    output = Output(wakeup, descriptor)
    output.say("unheard")
    output.say("unheard")
    for end in (wakeup, write_end, descriptor):
        os.close(end)


def test_a_long_reason_is_told_to_its_end(pipe: tuple[int, int]) -> None:
    wakeup, write_end = os.pipe()
    output = Output(wakeup, pipe[1])
    output.say("\n".join([*(f"line {number}" for number in range(1000)), "the reason"]))
    assert os.read(pipe[0], 1_000_000).endswith(b"line 999\nthe reason\n")
    os.close(wakeup)
    os.close(write_end)


def test_the_last_line_of_a_child(pipe: tuple[int, int]) -> None:
    wakeup, write_end = os.pipe()
    output = Output(wakeup, pipe[1])
    process = child("print('one'); print('why it ended')")
    output.follow("web", process.stdout)
    process.wait()
    output.pump(5)
    output.pump(5)
    assert output.read_last("web") == "why it ended"
    assert output.read_last("worker") == ""
    os.close(wakeup)
    os.close(write_end)
