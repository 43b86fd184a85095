"""The parent of the worker processes."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from io import BufferedReader
from pathlib import Path

import pytest
import requests

from bench.serving import children, free_port
from local.apps import ROOT
from tests.waiting import wait_until

COUNT = 3
CALLERS = 8


@contextmanager
def running(
    port: int, application: str = "wsgiref.simple_server:demo_app"
) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "front", "--port", str(port), "--workers", str(COUNT)]
    process = subprocess.Popen(
        [*command, "--threads", "1", "--application", application],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def replaced(parent: int, worker: int) -> bool:
    workers = children(parent)
    return worker not in workers and len(workers) == COUNT


def serves(port: int) -> bool:
    try:
        return requests.get(f"http://127.0.0.1:{port}/healthz", timeout=5).ok
    except requests.ConnectionError:
        return False


def test_workers_share_the_port_and_stop_when_asked() -> None:
    port = free_port()
    with running(port) as parent:
        wait_until(lambda: serves(port))
        workers = children(parent.pid)
        assert len(workers) == COUNT
        assert requests.get(f"http://127.0.0.1:{port}/x", timeout=5).text.startswith("Hello world!")
        parent.send_signal(signal.SIGTERM)
        assert parent.wait(10) == 0
        assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def stops_when_asked(pid: int) -> bool:
    """Whether the worker has a handler for SIGTERM by now."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


def read_head(reader: BufferedReader) -> list[str]:
    """The lines of a response until the empty one, or until the connection ends."""
    lines = []
    while line := reader.readline().decode().lower().strip():
        lines.append(line)
    return lines


def call_until_refused(port: int, keeps: bool, answered: list[int]) -> list[str]:
    """Calls one time after the other, over connections that it keeps or not; returns the errors."""
    header = "" if keeps else "Connection: close\r\n"
    while True:
        try:
            connection = socket.create_connection(("127.0.0.1", port), timeout=10)
        except ConnectionRefusedError:
            return []
        with connection, connection.makefile("rb") as reader:
            is_open = True
            while is_open:
                try:
                    connection.sendall(f"GET /healthz HTTP/1.1\r\nHost: a\r\n{header}\r\n".encode())
                    lines = read_head(reader)
                    length = next(
                        int(x.split()[1]) for x in lines if x.startswith("content-length")
                    )
                    assert len(reader.read(length)) == length
                except (OSError, StopIteration) as error:
                    return [repr(error)]
                answered.append(int(lines[0].split()[1]))
                is_open = "connection: close" not in lines


def test_a_worker_that_was_told_to_stop_is_replaced() -> None:
    port = free_port()
    with running(port) as parent:
        wait_until(lambda: serves(port))
        wait_until(lambda: all(map(stops_when_asked, children(parent.pid))))
        for worker in children(parent.pid):
            os.kill(worker, signal.SIGTERM)
            wait_until(partial(replaced, parent.pid, worker))
        wait_until(lambda: all(map(stops_when_asked, children(parent.pid))))
        assert all(serves(port) for _ in range(5 * COUNT))


@pytest.mark.parametrize("keeps", [False, True], ids=["new connections", "kept connections"])
def test_while_it_stops_every_call_that_gets_through_is_answered(keeps: bool) -> None:
    """A proxy does not repeat a POST whose connection breaks."""
    port = free_port()
    answered: list[int] = []
    with running(port) as parent, ThreadPoolExecutor(CALLERS) as pool:
        wait_until(lambda: serves(port))
        wait_until(lambda: all(map(stops_when_asked, children(parent.pid))))
        calls = [pool.submit(call_until_refused, port, keeps, answered) for _ in range(CALLERS)]
        wait_until(lambda: len(answered) > 10 * CALLERS)
        parent.send_signal(signal.SIGTERM)
        errors = [error for call in calls for error in call.result(20)]
        assert parent.wait(10) == 0
    assert errors == []
    assert {*answered} == {200}


def test_workers_die_with_their_parent() -> None:
    port = free_port()
    with running(port) as parent:
        wait_until(lambda: serves(port))
        workers = children(parent.pid)
        parent.kill()
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))


def test_a_worker_that_was_killed_is_replaced() -> None:
    port = free_port()
    with running(port) as parent:
        wait_until(lambda: serves(port))
        for _ in range(2):
            first = children(parent.pid)[0]
            os.kill(first, signal.SIGKILL)
            wait_until(partial(replaced, parent.pid, first))
        assert all(serves(port) for _ in range(10))


@pytest.mark.parametrize("application", ["nowhere:application", "wsgiref.simple_server:nothing"])
def test_what_cannot_start_ends_and_says_why(application: str) -> None:
    with running(free_port(), application) as parent:
        assert parent.wait(20) == 1
        assert parent.stderr is not None
        told = parent.stderr.read()
    assert "nowhere" in told or "nothing" in told
    assert "No web worker was started" in told


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with running(port) as parent:
            assert parent.wait(10) == 1
            assert parent.stderr is not None
            assert f"Cannot listen on 127.0.0.1:{port}" in parent.stderr.read()
