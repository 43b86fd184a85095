"""The events of clients/python, and `reviewloop listen`."""

import json
import signal
import subprocess
import time
from typing import Any

import pytest
import requests
from reviewloop import ApiError, Client, EventStream, InvalidCall, Unauthorized
from reviewloop.events import Block, read_blocks
from reviewloop.listening import shorten

from accounts.models import ApiKey, User
from loops.models import Loop
from reviews.models import Request
from reviews.services import answer_request, cancel_request, claim_request, create_request
from tests.clients.conftest import Shell, finish
from tests.clients.gate import Fault, Gate
from tests.reviews.conftest import FIELDS, acting
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def pending(loop: Loop, **fields: Any) -> Request:
    whole = {**FIELDS, **fields}
    made = create_request(loop_id=loop.pk, account=acting(loop.creator), fields=whole)
    return Request.objects.get(pk=made.pk)


def names(stream: EventStream, count: int) -> list[tuple[str, str]]:
    return [(event.name, event.body["request_id"]) for _, event in zip(range(count), stream)]  # noqa: B905


def test_events_arrive(service: str, key: str, loop: Loop, member: User) -> None:
    with Client(service, key) as client, client.events() as stream:
        request = pending(loop)
        claim_request(request=request, reviewer_id=member.pk)
        answer_request(request=request, reviewer_id=member.pk, answer="yes")
        claimed, completed = next(stream), next(stream)
        assert (claimed.name, completed.name) == ("request.claimed", "request.completed")
        assert (completed.body["response_data"], stream.last_id) == ("yes", completed.id)
        with client.events(after=claimed.id) as again:
            assert next(again) == completed
    assert list(stream) == []


def test_a_broken_connection_misses_nothing(
    client: Client, gate: Gate, loop: Loop, owner: User
) -> None:
    first, second, third = (pending(loop) for _ in range(3))
    stream = client.events()
    cancel_request(request_id=first.pk, account_id=owner.pk)
    assert names(stream, 1) == [("request.cancelled", first.pk)]
    gate.faults = [Fault(503), Fault(429, {"Retry-After": "0"}), Fault()]
    gate.cut()
    cancel_request(request_id=second.pk, account_id=owner.pk)
    assert next(stream).body["request_id"] == second.pk
    gate.cut()
    cancel_request(request_id=third.pk, account_id=owner.pk)
    assert next(stream).body["request_id"] == third.pk
    assert gate.faults == []
    stream.close()


def test_the_time_for_an_event_costs_no_patience(
    client: Client, gate: Gate, loop: Loop, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (pending(loop) for _ in range(2))
    with client.events() as stream:
        cancel_request(request_id=first.pk, account_id=owner.pk)
        assert names(stream, 1) == [("request.cancelled", first.pk)]
        gate.faults = [Fault(503)]
        gate.cut()
        monkeypatch.setattr("reviewloop.transport.monotonic", lambda: time.monotonic() + 3600)
        cancel_request(request_id=second.pk, account_id=owner.pk)
        assert names(stream, 1) == [("request.cancelled", second.pk)]


def test_what_comes_twice_is_skipped(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = client.events()
    monkeypatch.setattr(
        stream,
        "_blocks",
        iter(
            [
                *(Block(each, "request.claimed", '{"n": 1}') for each in ("a", "b", "a")),
                Block("m", "message", ""),
                *(Block(None, "stream.reset", '{"detail": "x"}') for _ in range(2)),
                Block("c", "request.claimed", "{}"),
            ]
        ),
    )
    found = [next(stream) for _ in range(5)]
    assert [event.id for event in found] == ["a", "b", "", "", "c"]
    stream.close()


def test_blocks_are_read_as_the_standard_says() -> None:
    lines = [
        "retry: 2000",
        ": x",
        "id: 1",
        "",
        "event: e",
        "id:2",
        "data: a",
        "data:b",
        "",
        "id: 3",
    ]
    assert list(read_blocks(lines)) == [Block("1", "message", ""), Block("2", "e", "a\nb")]


def test_a_stream_that_is_refused(client: Client, owner: User) -> None:
    with pytest.raises(InvalidCall, match="Last-Event-ID must be"):
        client.events(after="x")
    ApiKey.objects.update(state=ApiKey.State.INACTIVE)
    with pytest.raises(Unauthorized):
        client.events()


def test_an_unknown_place(client: Client) -> None:
    with client.events(after="0" * 24) as stream:
        event = next(stream)
        assert (event.id, event.name) == ("", "stream.reset")
        assert "read the requests" in event.body["detail"]


def started(shell: Shell, gate: Gate, *words: str, **environment: str) -> "subprocess.Popen[str]":
    process = shell.start("listen", *words, **environment)
    wait_until(lambda: gate.streams or process.poll() is not None, 30)
    return process


def line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout
    printed: str = process.stdout.readline()
    return printed


def test_listen(shell: Shell, gate: Gate, loop: Loop, owner: User, member: User) -> None:
    listening = started(shell, gate)
    answered, cancelled = pending(loop), pending(loop)
    answer_request(request=answered, reviewer_id=member.pk, answer="yes")
    words = line(listening).rstrip("\n").split(" ", 1)
    assert words[1] == f'request.completed {answered.pk} "yes" {answered.request_text}'
    gate.cut()
    cancel_request(request_id=cancelled.pk, account_id=owner.pk)
    assert line(listening).split(" ", 1)[1].startswith(f"request.cancelled {cancelled.pk}")
    assert gate.calls[-1].path == "/v1/api/events"
    listening.send_signal(signal.SIGINT)
    code, printed, complaints = finish(listening)
    assert (code, printed) == (0, "")
    assert complaints.splitlines()[0] == "Listening"
    assert "Traceback" not in complaints


def test_listen_prints_any_text_in_any_encoding(
    shell: Shell, gate: Gate, loop: Loop, member: User
) -> None:
    listening = started(shell, gate, PYTHONIOENCODING="ascii")
    request = pending(loop, request_text="重要 ✓", response_type="text", response_config={})
    answer_request(request=request, reviewer_id=member.pk, answer="Größer ✓")
    assert line(listening).rstrip("\n").endswith('"Größer ✓" 重要 ✓')
    listening.send_signal(signal.SIGINT)
    assert finish(listening)[0] == 0


def test_listen_in_json(shell: Shell, gate: Gate, loop: Loop, owner: User) -> None:
    listening = started(shell, gate, "--json", "--after", "0" * 24)
    reset = json.loads(line(listening))
    assert (reset["id"], reset["event"]) == ("", "stream.reset")
    request = pending(loop)
    cancel_request(request_id=request.pk, account_id=owner.pk)
    event = json.loads(line(listening))
    assert (event["event"], event["request_id"]) == ("request.cancelled", request.pk)
    assert len(event["id"]) == 24
    listening.send_signal(signal.SIGINT)
    assert finish(listening)[0] == 0


def test_nobody_reads_what_listen_prints(shell: Shell, gate: Gate, loop: Loop, owner: User) -> None:
    listening = started(shell, gate)
    assert listening.stdout
    listening.stdout.close()
    request = pending(loop)
    cancel_request(request_id=request.pk, account_id=owner.pk)
    assert listening.wait(30) == 0
    assert listening.stderr
    assert "Traceback" not in listening.stderr.read()
    listening.stderr.close()


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a\n\nb \x1b[31m", "a b [31m"), ("x" * 61, "x" * 59 + "…"), ("x" * 60, "x" * 60)],
)
def test_questions_on_a_terminal(text: str, shown: str) -> None:
    request: dict[str, Any] = {"request_text": text}
    assert shorten(request) == shown


def test_what_is_no_stream(monkeypatch: pytest.MonkeyPatch, client: Client) -> None:
    """A portal of a hotel, say."""
    answer = requests.Response()
    answer.status_code, answer.headers["Content-Type"] = 200, "text/html"
    answer._content = b"<p>Sign in"
    monkeypatch.setattr(client._transport._session, "get", lambda *_, **__: answer)
    client._transport.patience = 0
    with pytest.raises(ApiError, match="HTTP 502"):
        client.events()
