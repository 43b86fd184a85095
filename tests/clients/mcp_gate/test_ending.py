"""What ends before a person has decided: the call, the host, the gate, or the server."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from loops.models import Loop
from reviews.models import Request
from tests.clients.conftest import finish
from tests.clients.mcp_gate.conftest import Stand, open_request
from tests.clients.mcp_gate.test_deciding import ARGUMENTS, decide
from tests.waiting import stretched, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def wait_for_end(request: Request) -> None:
    wait_until(lambda: Request.objects.get(pk=request.pk).status == "cancelled", 30)


class Wire:
    """A host without an SDK: it writes lines and reads lines."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "wire", "version": "1"},
        }
        self.ask(0, "initialize", hello)
        assert self.read()["result"]["serverInfo"]["name"] == "shop"
        self.write({"method": "notifications/initialized"})

    def write(self, message: dict[str, Any]) -> None:
        self.write_line(json.dumps({"jsonrpc": "2.0", **message}))

    def write_line(self, line: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def ask(self, number: int, method: str, params: dict[str, Any]) -> None:
        self.write({"id": number, "method": method, "params": params})

    def call(self, number: int, tool: str, arguments: Any) -> None:
        self.ask(number, "tools/call", {"name": tool, "arguments": arguments})

    def read(self) -> Any:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())


@contextmanager
def wire_to(stand: Stand, *words: str, server: list[str] | None = None) -> Iterator[Wire]:
    with subprocess.Popen(
        stand.command(*words, server=server),
        env=stand.variables(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        try:
            yield Wire(process)
        finally:
            process.kill()


@pytest.mark.parametrize("given", [{}, {"id": None}, {"id": 1.5}, {"id": True}], ids=str)
def test_a_call_without_an_id_is_dropped(stand: Stand, loop: Loop, given: dict[str, Any]) -> None:
    """The protocol has no answer for it, but a server could run it."""
    server = ["--", sys.executable, str(Path(__file__).parent / "careless.py")]
    with wire_to(stand, server=server) as wire:
        params = {"name": "refund", "arguments": ARGUMENTS}
        wire.write({"method": "tools/call", "params": params, **given})
        wire.ask(2, "ping", {})
        while wire.read().get("id") != 2:
            pass
    assert stand.calls == []
    assert not Request.objects.exists()


def test_a_cancelled_call_takes_its_question_back(stand: Stand, loop: Loop) -> None:
    with stand.host(stand.command()) as host:
        calling = host.call("refund", **ARGUMENTS)
        request = open_request()
        calling.cancel()
        wait_for_end(request)
    assert stand.calls == []


def test_a_host_that_leaves_takes_its_questions_back(stand: Stand, loop: Loop) -> None:
    with wire_to(stand) as wire:
        wire.call(1, "refund", ARGUMENTS)
        request = open_request()
        assert wire.process.stdin
        wire.process.stdin.close()
        assert wire.process.wait(stretched(30)) == 0
        wait_for_end(request)
    assert stand.calls == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_takes_the_questions_back(stand: Stand, loop: Loop, number: int) -> None:
    with wire_to(stand) as wire:
        wire.call(1, "refund", ARGUMENTS)
        request = open_request()
        os.kill(wire.process.pid, number)
        assert wire.process.wait(stretched(30)) == 128 + number
        wait_for_end(request)
    assert stand.calls == []


def test_a_server_that_crashes_ends_the_gate(stand: Stand, loop: Loop) -> None:
    with wire_to(stand) as wire:
        wire.call(1, "refund", ARGUMENTS)
        request = open_request()
        wire.call(2, "crash", {})
        failures = sorted((wire.read() for _ in range(2)), key=lambda each: each["id"])
        ended = {"code": -32000, "message": "The server behind the gate has ended"}
        assert [each["error"] for each in failures] == [ended, ended]
        code, printed, complaints = finish(wire.process)
        assert (code, printed) == (1, "")
        assert "The server behind the gate has ended" in complaints
        assert "Traceback" not in complaints
        wait_for_end(request)


def test_a_request_that_is_sent_twice_is_one_call(stand: Stand, loop: Loop, member: User) -> None:
    with wire_to(stand) as wire:
        wire.call(1, "refund", ARGUMENTS)
        wire.call(1, "refund", ARGUMENTS)
        request = open_request()
        wire.call(2, "read_order", {"order": "7"})  # it is read after both
        assert wire.read()["id"] == 2
        decide(member, "approve")
        assert wire.read()["id"] == 1
        wire.call(3, "read_order", {"order": "7"})
        assert wire.read()["id"] == 3
    assert Request.objects.get() == request
    assert stand.calls == [{"tool": "refund", **ARGUMENTS}]


@pytest.mark.parametrize("arguments", ["[1, 2]", '"all"', "7", '{"amount": NaN}'])
@pytest.mark.parametrize("rules", ["", 'pass = ["*"]'])
def test_arguments_that_are_no_object_of_json(
    stand: Stand, loop: Loop, arguments: str, rules: str
) -> None:
    line = (
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", '
        '"params": {"name": "refund", "arguments": %s}}'
    )
    with wire_to(stand, *stand.rules(rules)) as wire:
        wire.write_line(line % arguments)
        result = wire.read()["result"]
    assert result["isError"]
    assert re.match(r"The call was not made: arguments ", result["content"][0]["text"])
    assert stand.calls == []
    assert not Request.objects.exists()


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "[]",
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "\\ud800"}}',
    ],
)
def test_what_is_no_message(stand: Stand, loop: Loop, line: str) -> None:
    with wire_to(stand) as wire:
        wire.write_line(line)
        assert wire.read()["error"]["code"] == -32700
        wire.call(1, "read_order", {"order": "7"})
        assert wire.read()["id"] == 1


def test_a_server_that_does_not_start(stand: Stand) -> None:
    command = stand.command(server=["--", "/nonexistent/server"])
    code, printed, complaints = finish(start(stand, command))
    assert (code, printed) == (1, "")
    assert complaints == (
        "The server behind the gate cannot be reached: "
        "[Errno 2] No such file or directory: '/nonexistent/server'\n"
    )


def test_an_address_where_nobody_listens(stand: Stand) -> None:
    command = stand.command(server=["http://127.0.0.1:9/mcp"])
    with start(stand, command, stdin=subprocess.PIPE) as process:
        assert process.stdin
        process.stdin.write('{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}\n')
        process.stdin.flush()
        assert process.wait(stretched(30)) == 1
        assert process.stderr
        complaints = process.stderr.read()
    assert complaints.startswith("The server behind the gate cannot be reached: ")
    assert "Traceback" not in complaints


def start(
    stand: Stand, command: list[str], stdin: int = subprocess.DEVNULL
) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        command,
        env=stand.variables(),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


@pytest.mark.parametrize(
    ("words", "server", "sentence"),
    [
        (["--rules", "/nonexistent"], None, "No such file or directory: '/nonexistent'"),
        (["--timeout", "10 years"], None, "timeout is a duration: a time-out is 60 seconds"),
        (["--header", "A: b"], None, "--header needs the address of a server, not a command"),
        (["--header", "A"], ["http://127.0.0.1:9"], "--header 'A' is not 'NAME: VALUE'"),
        (["--header", "A: ${NO}"], ["http://127.0.0.1:9"], "--header A: NO is not set"),
        ([], ["http://127.0.0.1:9", "x"], "'x' follows the address of the server"),
    ],
)
def test_wrong_usage(
    stand: Stand, words: list[str], server: list[str] | None, sentence: str
) -> None:
    code, printed, complaints = finish(start(stand, stand.command(*words, server=server)))
    assert (code, printed) == (1, "")
    assert sentence in complaints
    assert "Traceback" not in complaints
