"""POST /mcp: HTTP, keys and JSON-RPC, before any method is called."""

import json
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from pytest_django import Settings

from accounts import quota
from accounts.models import ApiKey, User
from loops.models import Loop
from reviews.models import Request
from tests.api.mcp.wire import LEGACY, MODERN, QUESTION, Agent, left
from tests.api.wire import Api, Ask, json_of, send
from tests.conftest import encode
from web.waiting import DEFERRED, Deferred, WaitingList

pytestmark = pytest.mark.django_db
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS", "HEAD"])
def test_only_posts(method: str, plenty: str) -> None:
    """There are no streams to open and no sessions to end."""
    response = send(method, "/mcp", f"Bearer {plenty}")
    assert (response.status_code, response["Allow"]) == (405, "POST")


def test_no_key_no_answer(api: Api, plenty: str) -> None:
    """Without a valid key every message gets the same refusals as a call of the API."""
    cases = {
        None: "Missing Authorization header",
        "": "API key required",
        "Basic abc": "Invalid Authorization header format. Use 'Bearer <api_key>'",
        "Bearer": "Empty API key",
        "Bearer rl_live_unknown": "Invalid API key",
    }
    messages: list[Any] = [
        PING,
        INITIALIZED,
        [PING, PING],
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_loops"}},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "unknown"}},
        {"jsonrpc": "2.0", "id": 1, "method": "unknown"},
        {"no": "message"},
    ]
    for header, sentence in cases.items():
        for message in messages:
            response = send("POST", "/mcp", header, encode(message))
            assert response.status_code == 401, message
            assert json_of(response)["error"] == {"code": 401, "message": sentence}
            assert response["WWW-Authenticate"] == "Bearer"
    assert send("POST", "/mcp", None, b"{").status_code == 401
    ApiKey.objects.update(state=ApiKey.State.INACTIVE)
    response = send("POST", "/mcp", f"Bearer {plenty}", encode(PING))
    assert json_of(response)["error"]["message"] == "API key is inactive"


def test_an_inactive_account(agent: Agent, owner: User) -> None:
    User.objects.filter(pk=owner.pk).update(is_active=False)
    refused = {"code": 403, "message": "Access denied to this resource"}
    assert agent.error("tools/list", status=403) == refused
    assert agent.fault("list_loops") == "Access denied to this resource"


def test_invalid_keys_are_throttled(settings: Settings, plenty: str) -> None:
    settings.FAILED_KEY_RATE = "2/m"
    codes = [send("POST", "/mcp", "Bearer rl_live_x", encode(PING)).status_code for _ in range(4)]
    assert codes == [401, 401, 429, 429]
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_loops"}}
    assert send("POST", "/mcp", "Bearer rl_live_x", encode(call)).status_code == 429
    assert send("POST", "/mcp", f"Bearer {plenty}", encode(call)).status_code == 200


def test_origins(agent: Agent, settings: Settings) -> None:
    """A page of another site cannot call, whatever it sends."""
    settings.SITE_URL = "https://review.example.com"
    for origin in ("https://evil.example", "null", "https://review.example.com.evil.example", ""):
        assert agent.error("tools/list", status=403, Origin=origin)["code"] == 403
    assert agent.result("tools/list", Origin="https://review.example.com")
    assert agent.result("tools/list", Origin="http://testserver")
    assert send("GET", "/mcp", Origin="https://evil.example").status_code == 403


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "body must not be empty"),
        (b"{", "body must be JSON: Expecting property name"),
        (b"\xff", "body must be UTF-8: byte 1 is 0xFF"),
        (b'{"jsonrpc": "2.0", "id": NaN}', "body must not contain NaN"),
        (b'"\\u0000"', "body must not contain NUL characters"),
        (b"[" * 33 + b"]" * 33, "body must have at most 32 levels"),
        (b'{"a": "' + b"x" * 256 * 1024 + b'"}', "body must have at most 262144 bytes"),
    ],
)
def test_what_is_no_json(plenty: str, raw: bytes, reason: str) -> None:
    response = send("POST", "/mcp", f"Bearer {plenty}", raw)
    assert (response.status_code, json_of(response)["error"]["code"]) == (400, -32700)
    assert json_of(response)["error"]["data"].startswith(reason)
    assert json_of(response)["id"] is None


def test_what_is_not_declared_as_json(plenty: str) -> None:
    response = send("POST", "/mcp", f"Bearer {plenty}", encode(PING), content_type="text/plain")
    assert response.status_code == 400


@pytest.mark.parametrize(
    "message",
    [
        None,
        1,
        "ping",
        {},
        {"id": 1, "method": "ping"},
        {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "method": 5},
        {"jsonrpc": "2.0", "id": None, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1.5, "method": "ping"},
        {"jsonrpc": "2.0", "id": True, "method": "ping"},
        {"jsonrpc": "2.0", "id": {}, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []},
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "list_loops"}},
    ],
)
def test_what_is_no_message(plenty: str, message: Any) -> None:
    raw = b"null" if message is None else encode(message)
    response = send("POST", "/mcp", f"Bearer {plenty}", raw)
    assert (response.status_code, json_of(response)["error"]["code"]) == (400, -32600)


@pytest.mark.parametrize("version", [*LEGACY, MODERN])
def test_notifications(api: Api, plenty: str, version: str) -> None:
    header = {"MCP-Protocol-Version": version}
    response = api(plenty).post("/mcp", INITIALIZED, **header)
    assert (response.status_code, response.content) == (202, b"")
    response = api(plenty).post("/mcp", INITIALIZED, **{"MCP-Protocol-Version": "1999-01-01"})
    assert response.status_code == 400


def test_no_session_and_no_cookie(agent: Agent) -> None:
    response = agent.send("tools/list", **{"Mcp-Session-Id": "abc", "Last-Event-ID": "7"})
    assert response.status_code == 200
    assert "Mcp-Session-Id" not in response
    assert not response.cookies
    assert response["Cache-Control"] == "no-store"
    assert response["Content-Type"] == "application/json"


def test_messages_of_the_protocol_cost_nothing(agent: Agent) -> None:
    before = left(agent.send("server/discover"))
    assert left(agent.send("tools/list")) == before
    assert left(agent.send("unknown")) == before
    assert left(agent.send("tools/call", {"name": "list_loops"})) == before - 1


def test_nothing_in_a_batch_waits(plenty: str, ask: Ask) -> None:
    """Whoever waits is answered again, and so would be the rest of the batch."""
    taken: list[str] = []

    class Full(WaitingList):
        def take(self, topic: str, group: str, seconds: float) -> None:
            taken.append(topic)

    full = Full(0, 0)
    environment: Any = {DEFERRED: Deferred(full, full)}
    look = {"name": "get_answer", "arguments": {"request_id": ask(), "wait": 50}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": look}
    for body, places in ((message, 1), ([message, message], 1)):
        headers = {"Authorization": f"Bearer {plenty}"}
        response = Client().generic(
            "POST", "/mcp", encode(body), "application/json", headers=headers, **environment
        )
        assert response.status_code == 200
        assert len(taken) == places


def test_a_batch_keeps_what_it_has(
    api: Api, plenty: str, loop: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database is away for the second message; nobody is asked twice for it."""
    fetch = quota.fetch_row

    def fetch_once(sql: str, params: Any) -> Any:
        if Request.objects.exists():
            raise OperationalError("server closed the connection unexpectedly")
        return fetch(sql, params)

    monkeypatch.setattr(quota, "fetch_row", fetch_once)
    fields = {"processing_type": "time-sensitive", "type": "markdown", "priority": "high"}
    asked = {"name": "create_request", "arguments": {"loop_id": loop.pk, **fields, **QUESTION}}
    listed = {"name": "list_loops", "arguments": {}}
    batch: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        for number, params in enumerate((asked, listed, listed))
    ]
    response = api(plenty).post("/mcp", [*batch[:2], INITIALIZED, batch[2]])
    assert response.status_code == 200
    first, *others = json.loads(response.content)
    assert first["result"]["structuredContent"]["request_id"] == Request.objects.get().pk
    assert [each["id"] for each in others] == [1, 2]
    assert others[0]["error"] == others[1]["error"]
    assert "Retry-After" in response
    response = api(plenty).post("/mcp", batch[1:])
    assert response.status_code == 503


def test_the_oldest_revision_has_batches(api: Api, plenty: str) -> None:
    call = {"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": "list_loops"}}
    unknown = {"jsonrpc": "2.0", "id": 2, "method": "unknown"}
    response = api(plenty).post("/mcp", [PING, INITIALIZED, call, unknown, 5])
    assert response.status_code == 200
    answers: list[Any] = json.loads(response.content)
    assert [answer["id"] for answer in answers] == [1, "a", 2, None]
    assert answers[0]["result"] == {}
    assert answers[1]["result"]["structuredContent"]["count"] == 0
    assert answers[2]["error"]["code"] == -32601
    assert answers[3]["error"]["code"] == -32600
    response = api(plenty).post("/mcp", [INITIALIZED, INITIALIZED])
    assert (response.status_code, response.content) == (202, b"")
    for messages in ([], [PING] * 21):
        assert api(plenty).post("/mcp", messages).status_code == 400
    for version in ("2025-06-18", MODERN):
        headers = {"MCP-Protocol-Version": version}
        assert api(plenty).post("/mcp", [PING], **headers).status_code == 400
