"""The whole service behind the web server, on real sockets."""

import json
import os
import signal
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest
import requests
from django.conf import settings
from django.db import transaction
from django.test import Client

from accounts.models import User
from bench.serving import children, is_python_worker
from loops.models import Loop
from tests.backends import backends, listening, waiting_for_locks
from tests.front.toy import Answer, Caller
from tests.waiting import wait_until
from web.server.limits import PART

pytestmark = pytest.mark.django_db(transaction=True)


def connect(site: str) -> Caller:
    return Caller(socket.create_connection(("127.0.0.1", int(site.rpartition(":")[2])), timeout=10))


def exchange(site: str, *lines: bytes, body: bytes = b"") -> Answer:
    """Sends the lines of a head as they are, and reads one response."""
    with connect(site) as caller:
        caller.send(b"\r\n".join([*lines, b"", b""]) + body)
        return caller.read()


HOST = b"Host: " + settings.SITE_URL.partition("//")[2].encode()


@pytest.mark.parametrize("key", ["é", "à", "ключ"])
def test_a_key_with_bytes_beyond_ascii_is_present(service: str, key: str) -> None:
    for raw in {key.encode(), key.encode("latin-1", "replace")}:
        answer = exchange(service, b"GET /v1/test HTTP/1.1", HOST, b"Authorization: Bearer " + raw)
        assert (answer.status, json.loads(answer.body)["msg"]) == (401, "Invalid API key")


@pytest.mark.parametrize("charset", ["utf-8", "latin-1"])
def test_a_neighbours_cookie_signs_nobody_out(service: str, owner: User, charset: str) -> None:
    client = Client()
    client.force_login(owner)
    session = client.cookies[settings.SESSION_COOKIE_NAME].value.encode()
    name = settings.SESSION_COOKIE_NAME.encode()
    city = "city=Zürich".encode(charset)
    for cookies in (city + b"; " + name + b"=" + session, name + b"=" + session + b"; " + city):
        answer = exchange(service, b"GET /dashboard/ HTTP/1.1", HOST, b"Cookie: " + cookies)
        assert answer.status == 200


def test_a_program_at_the_wrong_address_is_told(service: str, owner_key: str) -> None:
    key = b"Authorization: Bearer " + owner_key.encode()
    answer = exchange(service, b"GET /v1/test HTTP/1.1", b"Host: 192.168.1.7:8000", key)
    assert (answer.status, json.loads(answer.body)["msg"]) == (400, "Unknown host")
    assert not [name for name in answer.headers if name.startswith("x-ratelimit")]
    assert exchange(service, b"GET /v1/test HTTP/1.0", key).status == 200
    no_host = exchange(service, b"GET /v1/test HTTP/1.1", key)
    assert (no_host.status, json.loads(no_host.body)["data"]) == (
        400,
        "The request has no Host header.",
    )


def test_a_body_beyond_all_limits_is_the_apis_to_refuse(service: str, owner_key: str) -> None:
    lines = (b"POST /v1/api/loops HTTP/1.1", HOST, b"Content-Length: 5000000")
    content = b"Content-Type: application/json"
    answer = exchange(service, *lines, content, body=b"[" * 1_500_000)
    assert json.loads(answer.body)["msg"] == "Missing Authorization header"
    key = b"Authorization: Bearer " + owner_key.encode()
    answer = exchange(service, *lines, content, key, body=b"[" * 1_500_000)
    assert (answer.status, json.loads(answer.body)["msg"]) == (400, "Invalid request body")


def test_a_file_is_served_whole(service: str) -> None:
    files = [path for path in (settings.BASE_DIR / "static").rglob("*") if path.is_file()]
    largest = max(files, key=lambda path: path.stat().st_size)
    path = largest.relative_to(settings.BASE_DIR).as_posix()
    answer = requests.get(f"{service}/{path}", timeout=10)
    assert answer.content == largest.read_bytes()
    assert len(answer.content) > PART


def test_probes_are_answered_while_every_thread_waits_for_a_lock(
    service: str, owner_key: str, loop: Loop
) -> None:
    path = f"/v1/api/loops/{loop.pk}/requests".encode()
    body = json.dumps(
        {
            "processing_type": "deferred",
            "type": "markdown",
            "priority": "low",
            "request_text": "?",
            "response_type": "text",
            "response_config": {},
            "default_response": "",
            "platform": "api",
        }
    ).encode()
    head = (
        b"POST " + path + b" HTTP/1.1",
        HOST,
        b"Authorization: Bearer " + owner_key.encode(),
        b"Content-Type: application/json",
        b"Content-Length: %d" % len(body),
    )
    with ExitStack() as stack:
        callers = [stack.enter_context(connect(service)) for _ in range(6)]  # of four threads
        with transaction.atomic():
            Loop.objects.select_for_update().get(pk=loop.pk)
            for caller in callers:
                caller.send(b"\r\n".join([*head, b"", b""]) + body)
            wait_until(lambda: waiting_for_locks() == 4)
            for probe in (b"/healthz", b"/readyz"):
                answer = exchange(service, b"GET " + probe + b" HTTP/1.1", b"Host: 10.0.0.7")
                assert (answer.status, json.loads(answer.body)["status"]) == (200, "ok")
        assert {caller.read().status for caller in callers} == {201}


def test_a_worker_that_dies_is_started_again(service: str, service_log: Path) -> None:
    port = int(service.rpartition(":")[2])
    parent = next(pid for pid in children(os.getpid()) if f"--port\0{port}\0" in command(pid))
    (worker,) = filter(is_python_worker, children(parent))
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: not Path(f"/proc/{worker}").exists())
    # The call waits in the socket, which outlives the worker.
    assert requests.get(f"{service}/healthz", timeout=20).ok
    assert f"Child process [{worker}] died" in service_log.read_text()


def command(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")


def test_the_connections_of_threads_are_kept(service: str, owner_key: str) -> None:
    headers = {"Authorization": f"Bearer {owner_key}"}
    for _ in range(20):
        assert requests.get(f"{service}/v1/test", headers=headers, timeout=10).ok
    assert 1 <= len(backends() - listening()) <= 5


NEW_LOOP = b'{"name": "Smuggled", "icon": "bell"}'


def test_what_follows_a_request_does_not_execute_it_again(service: str, owner_key: str) -> None:
    """The beginning of a method that no parser knows comes in the same segment as the request."""
    key = b"Authorization: Bearer " + owner_key.encode()
    lines = (b"POST /v1/api/loops HTTP/1.1", HOST, key, b"Content-Type: application/json")
    head = b"\r\n".join((*lines, b"Content-Length: %d" % len(NEW_LOOP), b"", b""))
    with connect(service) as caller:
        caller.send(head + NEW_LOOP + b"PO")
        assert caller.read().status == 201
        caller.send(b"XX /healthz HTTP/1.1\r\n" + HOST + b"\r\n\r\n")
        assert b"HTTP/1.1 20" not in caller.read_all()
    assert Loop.objects.filter(name="Smuggled").count() == 1


def test_bytes_of_a_body_are_no_request(service: str) -> None:
    """The last 4,096 bytes of the segment look like a request."""
    inner = b"".join([b"ASK /healthz HTTP/1.1\r\n", HOST, b"\r\n\r\n"]).ljust(4094)
    head = b"POST /healthz HTTP/1.1\r\n" + HOST + b"\r\nContent-Length: %d\r\n\r\n"
    with connect(service) as caller:
        caller.send(head % len(inner) + inner + b"PO")
        answer = caller.read()
        assert (answer.status, answer.headers["connection"]) == (405, "close")
        assert caller.is_closed()


@pytest.mark.parametrize(("digits", "status"), [(b"9" * 4400, 400), (b"0" * 4399 + b"1", 401)])
def test_a_length_of_thousands_of_digits(
    service: str, service_log: Path, digits: bytes, status: int
) -> None:
    """Python reads no number that long."""
    before = service_log.stat().st_size
    answer = exchange(
        service, b"POST /v1/api/loops HTTP/1.1", HOST, b"Content-Length: " + digits, body=b"x"
    )
    assert answer.status == status
    assert "Traceback" not in service_log.read_text()[before:]
