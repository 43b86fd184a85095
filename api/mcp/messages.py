"""Reads the messages of JSON-RPC that a client posts (one, or a batch of the oldest revision)."""

from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest

from api.mcp.errors import INVALID_REQUEST, PARSE_ERROR, RpcError
from web import strict_json

MAX_BATCH = 20


@dataclass(frozen=True, slots=True)
class Message:
    """A request, or a notification: then `id` is None."""

    id: str | int | None
    method: str
    params: dict[str, Any] = field(default_factory=dict)

    @property
    def meta(self) -> dict[str, Any]:
        """What the client says about itself and this request."""
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}


def read_body(request: HttpRequest) -> Any:
    """Reads the JSON of the body. Raises RpcError."""
    try:
        return strict_json.read_value(request)
    except strict_json.InvalidJSON as error:
        raise RpcError(
            PARSE_ERROR,
            "The body must be JSON (application/json) of at most 256 KiB and 32 levels",
            data=str(error),
        ) from None


def read_id(value: Any) -> str | int | None:
    """Returns the id of a message, None if it has no valid one."""
    given = value.get("id") if isinstance(value, dict) else None
    is_valid = isinstance(given, str | int) and not isinstance(given, bool)
    return given if is_valid else None


def read_message(value: Any) -> Message:
    """Reads one message. Raises RpcError."""
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, "A message must be an object with jsonrpc 2.0")
    method, params = value.get("method"), value.get("params", {})
    if not isinstance(method, str):
        raise RpcError(INVALID_REQUEST, "A message must be a request or a notification")
    if not isinstance(params, dict):
        raise RpcError(INVALID_REQUEST, "params must be an object")
    if "id" in value and read_id(value) is None:
        raise RpcError(INVALID_REQUEST, "id must be a string or an integer")
    if "id" not in value and not method.startswith("notifications/"):
        raise RpcError(INVALID_REQUEST, f"{method} must have an id")
    return Message(read_id(value), method, params)
