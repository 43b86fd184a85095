"""Both clients where the service is behind TLS: a certificate that is wrong stays wrong."""

import contextlib
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from reviewloop import Client, ConnectionFailed

from tests.clients.test_typescript_client import project, result, run_node
from tests.webhooks.certificates import Authority, new_authority

__all__ = ["project"]  # a fixture

KEY = "rl_live_" + "a" * 36
PATIENCE = 4  # seconds: enough for two attempts, with a pause of half a second at most between
BODY = json.dumps({"error": False, "msg": "Valid API key", "data": {}}).encode()
Check = Callable[[str, Authority], str]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return new_authority(tmp_path_factory.mktemp("authority"))


class Server:
    """Serves each connection with the next of `contexts`, the last of them again and again.

    Bytes are what a server without TLS says; one that restarts says nothing.
    """

    def __init__(self, *contexts: ssl.SSLContext | bytes) -> None:
        self.contexts = contexts
        self.connections = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://localhost:{self.listener.getsockname()[1]}"

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:  # closed: the test is over
                return
            context = self.contexts[min(self.connections, len(self.contexts) - 1)]
            self.connections += 1
            with connection, contextlib.suppress(OSError):
                connection.settimeout(5)
                if isinstance(context, bytes):
                    connection.recv(10_000)
                    connection.sendall(context)
                    continue
                with context.wrap_socket(connection, server_side=True) as encrypted:
                    encrypted.recv(10_000)
                    encrypted.sendall(
                        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                        b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY
                    )


@contextlib.contextmanager
def serving(*contexts: ssl.SSLContext | bytes) -> Iterator[Server]:
    server = Server(*contexts)
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        yield server
    finally:
        server.listener.shutdown(socket.SHUT_RDWR)
        server.listener.close()
        thread.join()


@pytest.fixture(params=["python", "typescript"])
def check(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Check:
    """`check(url, authority)` checks the key; returns the name of the exception, or ''."""

    def check_in_python(url: str, authority: Authority) -> str:
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", authority.file)
        with Client(url, KEY, patience=PATIENCE) as client:
            try:
                client.check()
            except ConnectionFailed:
                return "ConnectionFailed"
        return ""

    def check_in_typescript(url: str, authority: Authority) -> str:
        folder: Path = request.getfixturevalue("project")
        scenario = json.dumps({"name": "checkKey", "patience": PATIENCE})
        variables = {"URL": url, "KEY": KEY, "NODE_EXTRA_CA_CERTS": authority.file}
        return str(result(run_node(["ask.js"], folder, SCENARIO=scenario, **variables))["name"])

    return check_in_python if request.param == "python" else check_in_typescript


@pytest.mark.parametrize(
    "serve",
    [
        lambda authority: authority.serve("localhost", self_signed=True),
        lambda authority: authority.serve("other.example"),
        lambda authority: authority.serve("localhost", days=-1),
    ],
    ids=["self-signed", "other name", "expired"],
)
def test_a_wrong_certificate_is_tried_once(
    check: Check, authority: Authority, serve: Callable[[Authority], ssl.SSLContext]
) -> None:
    with serving(serve(authority)) as server:
        assert check(server.url, authority) == "ConnectionFailed"
        assert server.connections == 1


def test_a_handshake_that_breaks_is_tried_again(check: Check, authority: Authority) -> None:
    with serving(b"", authority.serve("localhost")) as server:
        assert check(server.url, authority) == ""
        assert server.connections == 2


def test_a_server_without_tls_is_tried_once(check: Check, authority: Authority) -> None:
    with serving(b"HTTP/1.1 400 Bad Request\r\n\r\n") as server:
        assert check(server.url, authority) == "ConnectionFailed"
        assert server.connections == 1
