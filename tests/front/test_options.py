"""The command line of the web server."""

import pickle
import socket
import sys

import pytest

from bench.serving import free_port
from front import OwnSocket, configure, read_options


@pytest.mark.parametrize(
    ("option", "value", "bounds"),
    [
        ("--port", "0", "from 1 to 65535"), ("--port", "99999", "from 1 to 65535"),
        ("--workers", "0", "from 1 to 256"), ("--threads", "-1", "from 1 to 1000"),
        ("--threads", "٣", "from 1 to 1000"), ("--threads", "x", "from 1 to 1000"),
        ("--streams", "9" * 30, "from 0 to 1000000"),
    ],
)  # fmt: skip
def test_numbers_that_serve_nobody(
    option: str,
    value: str,
    bounds: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["front", f"{option}={value}"])
    with pytest.raises(SystemExit) as ended:
        read_options()
    assert ended.value.code == 2
    assert f"argument {option}: {value!r} is no number {bounds}" in capsys.readouterr().err


def test_numbers_that_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["front", "--port", "8001", "--streams", "0"])
    options = read_options()
    assert (options.port, options.streams, options.workers, options.threads) == (8001, 0, 1, 8)


def test_connections_are_kept_longer_than_proxies_keep_them() -> None:
    assert configure("tests.front.toy:hello").timeout_keep_alive > 60


def test_a_worker_listens_only_once_its_application_is_loaded() -> None:
    """Until then, the system would give it connections that others could answer."""
    port = free_port()
    with pickle.loads(pickle.dumps(OwnSocket("127.0.0.1", port))) as own:
        assert own.getsockname() == ("127.0.0.1", port)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), timeout=5)
