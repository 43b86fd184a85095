"""What clients of each revision say about themselves, and what they are told."""

import base64
from typing import Any

import pytest

from tests.api.mcp.wire import LEGACY, MODERN, SERVER, TASKS, Agent
from tests.api.wire import Api, json_of

pytestmark = pytest.mark.django_db
PREFIX = "io.modelcontextprotocol/"
SUPPORTED = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"]


def test_discover(agent: Agent) -> None:
    result = agent.result("server/discover")
    assert result.pop("instructions").startswith("Ask people for a decision")
    assert result == {
        "resultType": "complete",
        "supportedVersions": [MODERN],
        "capabilities": {"tools": {}, "extensions": {TASKS: {}}},
        "ttlMs": 3_600_000,
        "cacheScope": "public",
    }


@pytest.mark.parametrize("version", LEGACY)
def test_initialize(api: Api, plenty: str, version: str) -> None:
    agent = Agent(api, plenty, version=version)
    result = agent.result("initialize", {"protocolVersion": version, "capabilities": {}})
    assert result.pop("instructions")
    assert result == {
        "protocolVersion": version,
        "capabilities": {"tools": {}},
        "serverInfo": SERVER,
    }
    assert agent.result("ping") == {}
    assert set(agent.result("tools/list")) == {"tools"}
    assert agent.data("list_loops") == {"loops": [], "count": 0}
    assert agent.error("server/discover", status=200)["code"] == -32601
    assert agent.error("tasks/get", {"taskId": "0" * 24}, status=200)["code"] == -32601


@pytest.mark.parametrize("wanted", ["2024-11-05", MODERN, "1.0", None, 5])
def test_initialize_with_another_version(api: Api, plenty: str, wanted: Any) -> None:
    """The server names the newest that it has of this kind; the client decides."""
    agent = Agent(api, plenty, version="2025-06-18")
    assert agent.result("initialize", {"protocolVersion": wanted})["protocolVersion"] == LEGACY[-1]


def test_without_the_header_it_is_the_oldest(api: Api, plenty: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert "tools" in json_of(api(plenty).post("/mcp", message))["result"]


def test_unsupported_versions(api: Api, plenty: str) -> None:
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    header = {"MCP-Protocol-Version": "1900-01-01"}
    expected = {
        "code": -32022,
        "message": "Unsupported protocol version",
        "data": {"supported": SUPPORTED, "requested": "1900-01-01"},
    }
    response = api(plenty).post("/mcp", message, **header)
    assert (response.status_code, json_of(response)["error"]) == (400, expected)
    message["params"] = {"_meta": {f"{PREFIX}protocolVersion": "1900-01-01"}}
    response = api(plenty).post("/mcp", message, **header)
    assert (response.status_code, json_of(response)["error"]) == (400, expected)


def test_headers_repeat_the_body(agent: Agent) -> None:
    """A header that is missing or says something else is refused."""
    call = {"name": "list_loops"}
    mistakes: tuple[dict[str, Any], ...] = (
        {"Mcp-Method": "tools/list"},
        {"Mcp-Method": "TOOLS/CALL"},
        {"Mcp-Name": "get_loop"},
        {"Mcp-Name": "=?base64?!?="},
        {"MCP-Protocol-Version": "2025-11-25"},
    )
    for wrong in mistakes:
        error = agent.error("tools/call", call, **wrong)
        assert error["code"] == -32020, wrong
        assert next(iter(wrong)) in error["message"]
    encoded = base64.b64encode(b"list_loops").decode()
    assert agent.result("tools/call", call, **{"Mcp-Name": f"=?base64?{encoded}?="})


def test_headers_that_are_missing(agent: Agent) -> None:
    params = {"name": "list_loops", "_meta": agent.meta}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": "tools/call",
        "Mcp-Name": "list_loops",
    }
    assert agent.caller.post("/mcp", body, **headers).status_code == 200
    for name in headers:
        rest = {other: value for other, value in headers.items() if other != name}
        response = agent.caller.post("/mcp", body, **rest)
        assert (response.status_code, json_of(response)["error"]["code"]) == (400, -32020), name


def test_meta_that_is_missing(agent: Agent) -> None:
    for name in ("protocolVersion", "clientCapabilities"):
        meta = {key: value for key, value in agent.meta.items() if key != PREFIX + name}
        error = agent.error("tools/list", {"_meta": meta})
        assert (error["code"], PREFIX + name in error["message"]) == (-32602, True)
    error = agent.error("tools/list", {"_meta": "none"})
    assert error["code"] == -32602
    meta = {key: value for key, value in agent.meta.items() if key != f"{PREFIX}clientInfo"}
    assert agent.result("tools/list", {"_meta": meta})


def test_unknown_methods(agent: Agent) -> None:
    for method in ("initialize ", "ping", "resources/list", "subscriptions/listen", ""):
        assert agent.error(method, status=404)["code"] == -32601


def test_a_list_has_one_page(agent: Agent) -> None:
    assert agent.error("tools/list", {"cursor": "2"})["code"] == -32602
    result = agent.result("tools/list")
    assert (result["ttlMs"], result["cacheScope"]) == (3_600_000, "public")
