"""`make run` while it is up."""

import os
import re
import shlex
import signal
from pathlib import Path

import pytest
import requests

from config import alive
from tests.api.bodies import LOOP, QUESTION
from tests.processes.conftest import StackMaker
from tests.processes.stack import Stack
from tests.waiting import wait_until

MAX_BYTES = {"css": 25_000, "js": 30_000}  # bytes, compressed


def test_the_printed_curl_line_works(running: Stack) -> None:
    line = re.search(r"^\s*(curl .*)$", running.output(), re.MULTILINE)
    assert line, running.output()
    words = shlex.split(line[1])
    headers = [words[i + 1] for i, word in enumerate(words) if word in ("-H", "--header")]
    (address,) = [word for word in words if word.startswith("http")]

    response = requests.get(
        address, headers=dict(header.split(": ", 1) for header in headers), timeout=10
    )

    assert address.startswith(running.site)
    assert response.status_code == 200
    assert response.json()["error"] is False


def test_manage_in_a_second_terminal_finds_the_database(running: Stack) -> None:
    key = running.manage("createapikey", "second@example.com").strip()

    assert running.call(key).status_code == 200


def test_worker_and_beat_are_at_work(running: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    wait_until(lambda: background(running) == "ok", 20)

    monkeypatch.delenv("ALIVE_DIR", raising=False)
    monkeypatch.setenv("DATA_DIR", str(running.data))
    for kind in alive.KINDS:
        assert alive.describe(kind)[0], alive.describe(kind)


def background(stack: Stack) -> str:
    """Whether every sweep ran lately."""
    return str(requests.get(stack.site + "/readyz", timeout=10).json()["background"])


def test_a_second_run_on_the_same_folder_says_so(running: Stack) -> None:
    second = Stack(running.data, output="second").start()
    assert second.make is not None
    assert second.make.wait(20) != 0

    assert re.search(r"The data folder .* is in use by process \d+: stop", second.output())
    assert "Traceback" not in second.output()
    assert running.call("nobody").status_code == 401


def test_a_port_in_use_says_so(running: Stack, new_stack: StackMaker) -> None:
    second = new_stack(port=running.port).start()

    assert second.wait_for_end(20) != 0
    assert f"Port {running.port} cannot be used (Address already in use)" in second.output()
    assert f"PORT={running.port + 1}" in second.output()
    assert "Traceback" not in second.output()


def test_two_copies_run_side_by_side(running: Stack, new_stack: StackMaker) -> None:
    other = new_stack("with space and Ümläut").start_until_ready()
    key = running.manage("createapikey", "left@example.com").strip()

    assert running.call(key).status_code == 200
    assert other.call(key).status_code == 401
    other_key = other.manage("createapikey", "right@example.com").strip()
    assert other.call(other_key).status_code == 200

    other.signal_make(signal.SIGTERM)
    other.wait_for_end()
    assert other.stopped_cleanly()
    assert running.call(key).status_code == 200


def test_what_dies_is_started_again(running: Stack) -> None:
    for pattern in (r"celery .* worker ", r"celery .* beat ", r"-m front ", r"bin/postgres -D"):
        os.kill(running.pid_of(pattern), signal.SIGKILL)

    for name in ("worker", "beat", "web", "postgres"):
        wait_until(lambda name=name: f"{name} ended (-9)" in running.output())  # type: ignore[misc]
    wait_until(lambda: answers(running.site), 30)


def answers(site: str) -> bool:
    try:
        return requests.get(site + "/readyz", timeout=10).status_code == 200
    except requests.ConnectionError:
        return False


def test_the_secrets_are_private(running: Stack) -> None:
    for name in ("env", "secret_key", "encryption_key"):
        assert Path(running.data / name).stat().st_mode & 0o777 == 0o600


def get(stack: Stack, path: str) -> requests.Response:
    """As a browser asks, without unpacking."""
    headers = {"Accept-Encoding": "br, gzip"}
    return requests.get(stack.site + path, headers=headers, stream=True, timeout=10)


def loaded(html: str, kind: str) -> list[str]:
    return re.findall(rf'(?:src|href)="(/static/[^"#]+\.{kind})"', html)


def test_pages_load_little_and_only_once(running: Stack) -> None:
    html = requests.get(running.site + "/join/", timeout=10).text
    for kind, most in MAX_BYTES.items():
        paths = loaded(html, kind)
        assert paths
        weight = 0
        for path in paths:
            answer = get(running, path)
            assert answer.headers["Content-Encoding"] == "br", path
            assert "immutable" in answer.headers["Cache-Control"], path
            weight += len(answer.raw.read())
        assert weight <= most, (kind, weight)


def test_what_a_stylesheet_names_is_there(running: Stack) -> None:
    html = requests.get(running.site + "/", timeout=10).text
    (path,) = loaded(html, "css")
    fonts = re.findall(
        r"url\(\"?\.\./(fonts/[^\")]+)", requests.get(running.site + path, timeout=10).text
    )
    assert len(fonts) == 2
    for name in [f"/static/{font}" for font in fonts] + re.findall(r'/static/icons\.[^"#]+', html):
        answer = get(running, name)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["Cache-Control"]


def test_a_stream_has_events_of_whatever_process(running: Stack) -> None:
    key = running.manage("createapikey", "events@example.com").strip()
    headers = {"Authorization": f"Bearer {key}"}
    api = f"{running.site}/v1/api"
    with requests.get(f"{api}/events", headers=headers, stream=True, timeout=30) as stream:
        lines = stream.iter_lines(chunk_size=1)
        next(line for line in lines if line.startswith(b"id: "))
        loop = requests.post(f"{api}/loops", json=LOOP, headers=headers, timeout=10).json()
        path = f"{api}/loops/{loop['data']['loop']['id']}/requests"
        asked = requests.post(path, json=QUESTION, headers=headers, timeout=10).json()
        request_id = asked["data"]["request_id"]
        requests.delete(f"{api}/requests/{request_id}", headers=headers, timeout=10)
        assert next(line for line in lines if line.startswith(b"event: ")) == (
            b"event: request.cancelled"
        )
        assert request_id.encode() in next(lines)
