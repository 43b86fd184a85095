"""The service on a port of its own, over the database of the test."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import requests
from django.db import connection

from bench.serving import free_port
from tests.backends import backends
from tests.processes.stack import ROOT
from tests.waiting import wait_until


def database_url() -> str:
    """The test database, for a process of its own."""
    given = connection.settings_dict
    host = quote(given["HOST"], safe="")
    password = f":{quote(given['PASSWORD'], safe='')}" if given["PASSWORD"] else ""
    port = f":{given['PORT']}" if given["PORT"] else ""
    return f"postgres://{given['USER']}{password}@{host}{port}/{given['NAME']}"


@contextmanager
def serving(log: Path, *options: str, database: str = "") -> Iterator[str]:
    """The address of a server that runs until the end of the block. Its log goes to a file."""
    server, address = start(log, *options, database=database)
    try:
        yield address
    finally:
        server.terminate()
        server.wait(20)


def start(log: Path, *options: str, database: str = "") -> "tuple[subprocess.Popen[bytes], str]":
    """A server that answers, and its address. Whoever starts it ends it."""
    port = free_port()
    command = [
        *(sys.executable, "-m", "front", "--host", "127.0.0.1", "--port", str(port)),
        *("--workers", "1", "--threads", "4", *options),
    ]
    environment = {**os.environ, "DATABASE_URL": database or database_url()}
    environment["PORT"] = str(port)
    environment["PROCESS_KIND"] = "web"  # a test may have imported another entry point
    with log.open("wb") as output:
        server = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        wait_until(lambda: answers(port) or server.poll() is not None, 30)
        assert server.poll() is None, log.read_text(encoding="utf-8")
    except BaseException:
        server.kill()
        server.wait(20)
        raise
    return server, f"http://127.0.0.1:{port}"


def answers(port: int) -> bool:
    try:
        return requests.get(f"http://127.0.0.1:{port}/readyz", timeout=5).ok
    except (requests.ConnectionError, requests.Timeout):  # its worker has not started yet
        return False


def is_read() -> bool:
    """Whether the server has read the request since it was created: then the call waits."""
    return bool(
        backends(
            "state = 'idle' AND query LIKE %s"
            " AND state_change > (SELECT max(created_at) FROM reviews_request)",
            "%r.creator_id, r.image_url%",
        )
    )
