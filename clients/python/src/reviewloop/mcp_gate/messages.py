"""Reads and writes the JSON-RPC messages that the gate looks into."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
    mcp_param_headers,
    x_mcp_header_map,
)
from mcp.shared.message import ClientMessageMetadata
from mcp_types import PROTOCOL_VERSION_META_KEY, ErrorData
from mcp_types.jsonrpc import JSONRPCError, JSONRPCRequest, JSONRPCResponse

RESERVED = "io.modelcontextprotocol/"
"""Since 2026-07-28 every request says in its `_meta` who sends it, under these keys."""


def read_meta(params: Mapping[str, Any] | None) -> dict[str, Any]:
    meta = (params or {}).get("_meta")
    return meta if isinstance(meta, dict) else {}


def read_envelope(params: Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns the part of `_meta` that every request of the same sender has."""
    return {key: value for key, value in read_meta(params).items() if key.startswith(RESERVED)}


def find_fault(params: Mapping[str, Any]) -> str | None:
    """Returns why a call is malformed or cannot be written as JSON; None if it is well-formed."""
    if not isinstance(params.get("name"), str):
        return "name is not a text"
    if not isinstance(params.get("arguments", {}), dict):
        return "arguments is not an object"
    try:
        json.dumps(params.get("arguments"), allow_nan=False)
    except ValueError:
        return "arguments has a number that JSON does not have, such as NaN"
    return None


def build_result(text: str, *, is_error: bool) -> dict[str, Any]:
    """Builds a result of `tools/call` that comes from the gate itself."""
    content = [{"type": "text", "text": text}]
    return {"content": content, "isError": is_error, "resultType": "complete"}


def add_notice(
    response: JSONRPCResponse | JSONRPCError, notice: str
) -> JSONRPCResponse | JSONRPCError:
    """Puts a text before the result of a tool, or before its error."""
    if isinstance(response, JSONRPCError):
        error = response.error
        told = ErrorData(code=error.code, message=f"{notice}\n{error.message}", data=error.data)
        return JSONRPCError(jsonrpc="2.0", id=response.id, error=told)
    content = response.result.get("content")
    if not isinstance(content, list):  # no result yet: the tool goes on in a task, or asks back
        return response
    told_result = {**response.result, "content": [{"type": "text", "text": notice}, *content]}
    return JSONRPCResponse(jsonrpc="2.0", id=response.id, result=told_result)


def build_metadata(
    request: JSONRPCRequest, negotiated: str | None, tool: Mapping[str, Any] | None
) -> ClientMessageMetadata | None:
    """Builds the headers of a message for Streamable HTTP; other transports ignore them."""
    version = read_meta(request.params).get(PROTOCOL_VERSION_META_KEY)
    if not isinstance(version, str):
        return negotiated_metadata(negotiated)
    params = request.params or {}
    headers = {MCP_PROTOCOL_VERSION_HEADER: version, MCP_METHOD_HEADER: request.method}
    name = params.get(NAME_BEARING_METHODS.get(request.method, ""))
    if isinstance(name, str):
        headers[MCP_NAME_HEADER] = encode_header_value(name)
    if tool is not None:
        named = x_mcp_header_map(tool.get("inputSchema"))
        headers.update(mcp_param_headers(named, params.get("arguments") or {}))
    return ClientMessageMetadata(headers=headers)


def negotiated_metadata(version: str | None) -> ClientMessageMetadata | None:
    """Builds the header of the older protocol, once `initialize` has chosen a version."""
    if version is None:
        return None
    return ClientMessageMetadata(headers={MCP_PROTOCOL_VERSION_HEADER: version})
