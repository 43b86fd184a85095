"""Calls of /mcp as clients of the revisions make them."""

from typing import Any

from django.http import HttpResponse

from config import release
from tests.api.wire import Api, check_quota_headers, json_of

MODERN = "2026-07-28"
LEGACY = ("2025-03-26", "2025-06-18", "2025-11-25")
TASKS = "io.modelcontextprotocol/tasks"
SERVER = {"name": "review-loop", "title": "Review Loop", "version": release.VERSION}
QUESTION: dict[str, Any] = {
    "request_text": "Shall we publish?",
    "response_type": "single_select",
    "response_config": {"options": ["yes", "no"]},
    "default_response": "no",
    "timeout_seconds": 3600,
}


def named_by(method: str, params: dict[str, Any]) -> str | None:
    """What the header Mcp-Name repeats."""
    field = {"tools/call": "name"}.get(method, "taskId" if method.startswith("tasks/") else "")
    return params.get(field)


class Agent:
    """A client with a key; a modern one unless it has another revision."""

    def __init__(
        self, api: Api, key: str | None, *, version: str = MODERN, tasks: bool = False
    ) -> None:
        self.caller = api(key)  # type: ignore[arg-type]
        self.version = version
        self.capabilities: dict[str, Any] = {"extensions": {TASKS: {}}} if tasks else {}

    @property
    def meta(self) -> dict[str, Any]:
        return {
            "io.modelcontextprotocol/protocolVersion": self.version,
            "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "7"},
        }

    def send(self, method: str, params: Any = None, **headers: str) -> Any:
        """Posts one request; headers may replace those that belong to it."""
        params = dict(params or {})
        given = {"MCP-Protocol-Version": self.version}
        if self.version == MODERN:
            params = {"_meta": self.meta, **params}
            given["Mcp-Method"] = method
            if (name := named_by(method, params)) is not None:
                given["Mcp-Name"] = name
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self.caller.post("/mcp", body, **{**given, **headers})

    def result(self, method: str, params: Any = None, **headers: str) -> dict[str, Any]:
        """The result of a request, without what all results have in common."""
        response = self.send(method, params, **headers)
        body = json_of(response)
        assert response.status_code == 200, body
        assert (body.pop("jsonrpc"), body.pop("id"), list(body)) == ("2.0", 1, ["result"]), body
        result: dict[str, Any] = body["result"]
        if self.version == MODERN:
            assert result.pop("_meta") == {"io.modelcontextprotocol/serverInfo": SERVER}
        return result

    def tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The result of a tool."""
        return self.result("tools/call", {"name": name, "arguments": arguments})

    def data(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a tool that does what it is asked."""
        result = self.tool(name, **arguments)
        assert "isError" not in result, result
        content: dict[str, Any] = result["structuredContent"]
        return content

    def fault(self, name: str, **arguments: Any) -> str:
        """The sentence of a tool that fails."""
        result = self.tool(name, **arguments)
        assert result["isError"] is True, result
        return str(result["content"][0]["text"])

    def error(
        self, method: str, params: Any = None, *, status: int = 400, **headers: Any
    ) -> dict[str, Any]:
        """The error of a request."""
        response = self.send(method, params, **headers)
        body = json_of(response)
        assert response.status_code == status, body
        error: dict[str, Any] = body["error"]
        return error


def left(response: HttpResponse) -> int:
    """How many calls the key has left."""
    check_quota_headers(response)
    return int(response["X-RateLimit-Remaining"])
