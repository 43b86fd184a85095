"""The revisions of the protocol, and what a request says about its own.

Since 2026-07-28 every request says it, in its headers and in `_meta`. Older revisions begin with
`initialize`, and name themselves in a header from 2025-06-18 on. There are no sessions in any.
"""

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Any

from api.mcp.errors import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    MISSING_CAPABILITY,
    UNSUPPORTED_VERSION,
    RpcError,
)
from api.mcp.messages import Message

MODERN = "2026-07-28"
LEGACY = ("2025-11-25", "2025-06-18", "2025-03-26")
OLDEST = LEGACY[-1]  # it has no header
SUPPORTED = (MODERN, *LEGACY)
TASKS = "io.modelcontextprotocol/tasks"
_VERSION = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
_CLIENT = "io.modelcontextprotocol/clientInfo"
# Which field of params the header Mcp-Name repeats.
_NAMED_BY = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
_ENCODED = re.compile(r"=\?base64\?(.*)\?=")
_UNPRINTABLE = re.compile(r"[^\x20-\x7e]+")
MAX_CLIENT = 80  # characters of a client's name and version


@dataclass(frozen=True, slots=True)
class Revision:
    """How the client of a request speaks. `client` is how it calls itself, or ''."""

    version: str
    takes_tasks: bool = False
    client: str = ""

    @property
    def is_modern(self) -> bool:
        return self.version == MODERN

    def require_tasks(self) -> None:
        """Raises RpcError if the client has not declared the extension."""
        if not self.takes_tasks:
            needed: dict[str, Any] = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
            raise RpcError(MISSING_CAPABILITY, "Missing required client capability", data=needed)


def read_revision(headers: dict[str, Any], message: Message) -> Revision:
    """Reads the revision of a message. `headers` are those of WSGI. Raises RpcError."""
    named, meant = headers.get("HTTP_MCP_PROTOCOL_VERSION"), message.meta.get(_VERSION)
    if message.method == "initialize":  # it negotiates in its params
        return Revision(negotiate(message.params.get("protocolVersion")))
    if message.id is None:
        return Revision(check_version(named or OLDEST))
    if meant is None and named != MODERN:
        return Revision(check_version(named or OLDEST))
    return read_modern(headers, message, named, meant)


def negotiate(wanted: Any) -> str:
    """Chooses the revision for a client that initializes: its own, or the newest of its kind."""
    return wanted if wanted in LEGACY else LEGACY[0]


def check_version(version: Any) -> str:
    """Returns a version that is supported. Raises RpcError."""
    if version not in SUPPORTED:
        raise RpcError(
            UNSUPPORTED_VERSION,
            "Unsupported protocol version",
            data={"supported": list(SUPPORTED), "requested": version},
        )
    return str(version)


def read_modern(headers: dict[str, Any], message: Message, named: Any, meant: Any) -> Revision:
    """Reads what a request since 2026-07-28 says about itself. Raises RpcError."""
    if not isinstance(meant, str):
        raise RpcError(INVALID_PARAMS, f"_meta must have {_VERSION}")
    check_header("MCP-Protocol-Version", named, meant)
    if check_version(meant) != MODERN:
        return Revision(meant)
    check_header("Mcp-Method", headers.get("HTTP_MCP_METHOD"), message.method)
    if (source := _NAMED_BY.get(message.method)) is not None:
        check_header("Mcp-Name", decode(headers.get("HTTP_MCP_NAME")), message.params.get(source))
    capabilities = message.meta.get(_CAPABILITIES)
    if not isinstance(capabilities, dict):
        raise RpcError(INVALID_PARAMS, f"_meta must have {_CAPABILITIES}, an object")
    extensions = capabilities.get("extensions")
    takes_tasks = isinstance(extensions, dict) and isinstance(extensions.get(TASKS), dict)
    return Revision(MODERN, takes_tasks, format_client(message.meta.get(_CLIENT)))


def check_header(name: str, value: Any, expected: Any) -> None:
    """Raises RpcError if the header does not repeat what the body says."""
    if value is None:
        raise RpcError(HEADER_MISMATCH, f"Header mismatch: {name} is missing")
    if value != expected:
        raise RpcError(HEADER_MISMATCH, f"Header mismatch: {name} is not what the body says")


def decode(value: str | None) -> str | None:
    """Decodes a header value that may be wrapped in Base64; returns '' for broken Base64."""
    wrapped = _ENCODED.fullmatch(value or "")
    if wrapped is None:
        return value
    try:
        return base64.b64decode(wrapped[1], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def format_client(info: Any) -> str:
    """Formats the name and version by which a client calls itself."""
    if not isinstance(info, dict):
        return ""
    words = [info[name] for name in ("name", "version") if isinstance(info.get(name), str)]
    return _UNPRINTABLE.sub(" ", " ".join(words)).strip()[:MAX_CLIENT]
