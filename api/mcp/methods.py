"""The methods of the protocol."""

from collections.abc import Callable
from functools import cache
from typing import Any, Final

from api.mcp import tasks
from api.mcp.asking import AskHuman, GetAnswer
from api.mcp.errors import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError, ToolFailed
from api.mcp.exchange import Exchange
from api.mcp.messages import Message
from api.mcp.revisions import MODERN, TASKS
from api.mcp.tools import API_TOOLS, Tool, describe
from config import release

Params = dict[str, Any]
Method = Callable[[Exchange, Params], dict[str, Any]]

INSTRUCTIONS: Final = (
    "Ask people for a decision with ask_human: before something that cannot be undone, that costs "
    "money or that reaches strangers, or when you are not sure. list_loops shows whom you can ask. "
    "Put everything that they need into the question, and choose a default_response that does no "
    "harm."
)
_TOOLS: Final[tuple[Tool, ...]] = (AskHuman(), GetAnswer(), *API_TOOLS)
TOOLS: Final = {tool.name: tool for tool in _TOOLS}
# The same for everybody, and only a new version changes them.
CACHING: Final = {"ttlMs": 3_600_000, "cacheScope": "public"}


def describe_server() -> dict[str, Any]:
    return {"name": "review-loop", "title": "Review Loop", "version": release.VERSION}


def discover(exchange: Exchange, params: Params) -> dict[str, Any]:
    """server/discover, since 2026-07-28."""
    return {
        "supportedVersions": [MODERN],
        "capabilities": {"tools": {}, "extensions": {TASKS: {}}},
        "instructions": INSTRUCTIONS,
        **CACHING,
    }


def initialize(exchange: Exchange, params: Params) -> dict[str, Any]:
    """initialize, before 2026-07-28. No session begins."""
    return {
        "protocolVersion": exchange.revision.version,
        "capabilities": {"tools": {}},
        "serverInfo": describe_server(),
        "instructions": INSTRUCTIONS,
    }


def ping(exchange: Exchange, params: Params) -> dict[str, Any]:
    return {}


@cache
def describe_tools() -> list[dict[str, Any]]:
    return [describe(tool) for tool in TOOLS.values()]


def list_tools(exchange: Exchange, params: Params) -> dict[str, Any]:
    """tools/list. There is one page."""
    if params.get("cursor") is not None:
        raise RpcError(INVALID_PARAMS, "cursor is unknown")
    return {"tools": describe_tools(), **(CACHING if exchange.revision.is_modern else {})}


def call_tool(exchange: Exchange, params: Params) -> dict[str, Any]:
    """tools/call. What its caller can put right comes as a result, for the model to read."""
    tool = TOOLS.get(str(params.get("name")))
    if tool is None:
        raise RpcError(INVALID_PARAMS, f"Unknown tool: {params.get('name')}")
    arguments = params.get("arguments", {})
    if not isinstance(arguments, dict):
        raise RpcError(INVALID_PARAMS, "arguments must be an object")
    try:
        return tool.run(exchange, arguments)
    except ToolFailed as failed:
        return {"content": [{"type": "text", "text": failed.format()}], "isError": True}


_BOTH: Final[dict[str, Method]] = {"tools/list": list_tools, "tools/call": call_tool}
LEGACY_METHODS: Final[dict[str, Method]] = {"initialize": initialize, "ping": ping, **_BOTH}
MODERN_METHODS: Final[dict[str, Method]] = {
    "server/discover": discover,
    "tasks/get": tasks.get_task,
    "tasks/update": tasks.update_task,
    "tasks/cancel": tasks.cancel_task,
    **_BOTH,
}


def run(exchange: Exchange, message: Message) -> dict[str, Any]:
    """Answers a request with its `result`. Raises RpcError."""
    is_modern = exchange.revision.is_modern
    method = (MODERN_METHODS if is_modern else LEGACY_METHODS).get(message.method)
    if method is None:
        raise RpcError(METHOD_NOT_FOUND, f"Method not found: {message.method}", status=404)
    result = method(exchange, message.params)
    if not is_modern:
        return result
    meta = {"io.modelcontextprotocol/serverInfo": describe_server()}
    return {"resultType": "complete", **result, "_meta": meta}
