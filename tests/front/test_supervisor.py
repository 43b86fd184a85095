"""The parent of the worker processes."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest
import requests

from bench.serving import children, free_port, is_python_worker
from local.apps import ROOT
from tests.front.toy import Caller
from tests.waiting import stretched, wait_until

COUNT = 3
CALLERS = 8


@contextmanager
def running(
    port: int, application: str = "tests.front.toy:hello"
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


@contextmanager
def activated(held: socket.socket) -> Iterator[subprocess.Popen[str]]:
    """A server that gets its socket as systemd hands it over: number 3, and its own LISTEN_PID."""
    code = (
        "import os, sys; os.dup2(int(sys.argv[1]), 3); os.environ['LISTEN_PID'] = str(os.getpid());"
        "os.execv(sys.executable, [sys.executable, '-m', 'front', *sys.argv[2:]])"
    )
    options = ("--application", "tests.front.toy:hello", "--threads", "1")
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(held.fileno()), *options],
        cwd=ROOT,
        pass_fds=[held.fileno()],
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def workers_of(parent: int) -> list[int]:
    return [pid for pid in children(parent) if is_python_worker(pid)]


def replaced(parent: int, worker: int) -> bool:
    workers = workers_of(parent)
    return worker not in workers and len(workers) == COUNT


def serves(port: int) -> bool:
    try:
        return requests.get(f"http://127.0.0.1:{port}/healthz", timeout=5).ok
    except (requests.ConnectionError, requests.Timeout):
        return False


def test_workers_share_the_port_and_stop_when_asked() -> None:
    port = free_port()
    with running(port) as parent:
        wait_until(lambda: serves(port))
        workers = workers_of(parent.pid)
        assert len(workers) == COUNT
        assert requests.get(f"http://127.0.0.1:{port}/x", timeout=5).text.startswith("Hello world!")
        parent.send_signal(signal.SIGTERM)
        assert parent.wait(10) == 0
        assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def test_what_has_arrived_when_it_stops_is_answered() -> None:
    """That a connection which comes now is not reset is up to who holds the socket open."""
    port = free_port()
    with running(port) as parent, ExitStack() as stack:
        wait_until(lambda: serves(port))
        callers = []
        for _ in range(CALLERS):
            connection = socket.create_connection(("127.0.0.1", port), timeout=20)
            caller = stack.enter_context(Caller(connection))
            caller.send(b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n")
            caller.send(b"Expect: 100-continue\r\n\r\n")
            assert caller.read().status == 100
            callers.append(caller)
        parent.send_signal(signal.SIGTERM)
        for caller in callers:
            caller.send(b"x")
            answer = caller.read()
            assert (answer.status, answer.body) == (200, b"Hello world!")
        assert parent.wait(20) == 0


def test_a_socket_that_systemd_holds_outlives_the_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as held, ThreadPoolExecutor(1) as pool:
        port = held.getsockname()[1]
        for _ in range(2):
            early = pool.submit(requests.get, f"http://127.0.0.1:{port}/x", timeout=30)
            with activated(held) as parent:
                assert early.result(30).text == "Hello world!"
                parent.send_signal(signal.SIGTERM)
                assert parent.wait(10) == 0


def test_workers_die_with_their_parent() -> None:
    port = free_port()
    with running(port) as parent:
        wait_until(lambda: serves(port))
        workers = workers_of(parent.pid)
        parent.kill()
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))


def test_a_worker_that_was_killed_is_replaced() -> None:
    port = free_port()
    with running(port) as parent:
        wait_until(lambda: serves(port))
        for _ in range(2):
            first = workers_of(parent.pid)[0]
            os.kill(first, signal.SIGKILL)
            wait_until(partial(replaced, parent.pid, first))
        assert all(serves(port) for _ in range(10))


@pytest.mark.parametrize("application", ["nowhere:application", "tests.front.toy:nothing"])
def test_what_cannot_start_ends_and_says_why(application: str) -> None:
    with running(free_port(), application) as parent:
        assert parent.wait(stretched(30)) == 1
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
