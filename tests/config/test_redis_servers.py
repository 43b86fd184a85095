"""The cache and the broker really use TLS and Sentinel, as REDIS_URL says."""

import os
import signal
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
import redis
from kombu import Connection

from bench.serving import free_port
from config.redis_urls import read_redis
from local.processes import spawn, stop
from local.redis import find_server
from tests.waiting import wait_until
from tests.webhooks.certificates import Authority, new_authority
from web.cache import FailOpenRedisCache

STOP = ((signal.SIGTERM, 2.0),)


def use(url: str) -> None:
    """Keeps a value in the cache and sends a message through the broker."""
    server = read_redis(url, number=None)
    given = server.build_cache()
    cache = FailOpenRedisCache(given["LOCATION"], {"OPTIONS": given["OPTIONS"]})
    cache.set("weather", "fine")
    assert cache.get("weather") == "fine"
    broker = Connection(
        server.build_broker_url(),
        ssl=server.tls,
        transport_options={"socket_timeout": 5, **server.build_broker_options()},
    )
    with closing(broker), closing(broker.SimpleQueue("letters")) as queue:
        queue.put("hello")
        message = queue.get(timeout=5)
        assert message.payload == "hello"
        message.ack()


@pytest.fixture
def primary(tmp_path: Path) -> Iterator[int]:
    """The port of a server with a password."""
    port = free_port()
    options = ["--port", str(port), "--requirepass", "p/1", "--save", ""]
    with (tmp_path / "redis.log").open("wb") as log:
        process = spawn([str(find_server()), *options], env=os.environ, output=log, cwd=tmp_path)
    try:
        wait_until(lambda: answers(port, password="p/1"))
        yield port
    finally:
        stop(process, STOP)


@pytest.fixture
def sentinel(primary: int, tmp_path: Path) -> Iterator[int]:
    port = free_port()
    file = tmp_path / "sentinel.conf"
    lines = [f"port {port}", f"sentinel monitor people 127.0.0.1 {primary} 1"]
    lines += ["sentinel auth-pass people p/1", "requirepass watch"]
    file.write_text("\n".join(lines) + "\n")
    with (tmp_path / "sentinel.log").open("wb") as log:
        command = [str(find_server()), str(file), "--sentinel"]
        process = spawn(command, env=os.environ, output=log, cwd=tmp_path)
    try:
        wait_until(lambda: answers(port, password="watch"))
        yield port
    finally:
        stop(process, STOP)


def answers(port: int, **options: Any) -> bool:
    with redis.Redis(port=port, **options) as client, suppress(redis.RedisError):
        return bool(client.ping())
    return False


def test_sentinel_names_the_server(primary: int, sentinel: int) -> None:
    nobody = free_port()
    use(
        f"redis+sentinel://:p%2F1@127.0.0.1:{nobody},127.0.0.1:{sentinel}/people/3"
        "?sentinel_password=watch"
    )
    with redis.Redis(port=primary, password="p/1", db=4) as cache:
        assert cache.keys() == [b":1:weather"]


def test_an_unknown_group_is_no_server(sentinel: int) -> None:
    with pytest.raises(AssertionError):  # an empty cache
        use(f"redis+sentinel://127.0.0.1:{sentinel}/strangers?sentinel_password=watch")


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return new_authority(tmp_path)


@pytest.fixture
def encrypted(primary: int, authority: Authority) -> Iterator[int]:
    """The port on which the same server is reached over TLS."""
    context = authority.serve("localhost")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=forward, args=(listener, context, primary), daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def forward(listener: socket.socket, context: ssl.SSLContext, port: int) -> None:
    with suppress(OSError):
        while True:
            client, _ = listener.accept()
            threading.Thread(target=relay, args=(client, context, port), daemon=True).start()


def relay(client: socket.socket, context: ssl.SSLContext, port: int) -> None:
    with (
        suppress(OSError),
        context.wrap_socket(client, server_side=True) as inside,
        socket.create_connection(("127.0.0.1", port)) as outside,
    ):
        threading.Thread(target=copy, args=(outside, inside), daemon=True).start()
        copy(inside, outside)


def copy(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError, ValueError):
        while data := source.recv(65536):
            sink.sendall(data)


def test_over_tls_with_an_authority_of_ones_own(encrypted: int, authority: Authority) -> None:
    use(f"rediss://:p%2F1@localhost:{encrypted}/2?ssl_ca_certs={authority.file}")


def test_a_certificate_of_another_name_is_refused(encrypted: int, authority: Authority) -> None:
    url = f"rediss://:p%2F1@127.0.0.1:{encrypted}/2?ssl_ca_certs={authority.file}"
    with pytest.raises(AssertionError):
        use(url)
    use(f"{url}&ssl_check_hostname=false")


def test_a_certificate_of_nobody_is_taken_where_told(encrypted: int) -> None:
    with pytest.raises(AssertionError):
        use(f"rediss://:p%2F1@localhost:{encrypted}/2")
    use(f"rediss://:p%2F1@localhost:{encrypted}/2?ssl_cert_reqs=none")
