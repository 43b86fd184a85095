"""Reads what a coding agent sends to its hook."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

MAX_BYTES = 1 << 20  # of the arguments: the service takes no larger call
MOST_READ = 64 << 20  # with what the call returned, in the event after it


class Silence(Exception):
    """The hook makes no decision, for this reason: the agent asks at its own prompt."""


@dataclass(frozen=True)
class Call:
    """An event of a tool call. The agents give no id of the call."""

    event: str
    tool: str
    input: dict[str, Any]
    session: str
    folder: str  # the name of the project's folder


def read_call(raw: bytes) -> Call:
    """Reads an event. Raises Silence for one that no known version of the agents sends."""
    if len(raw) > MOST_READ:
        raise Silence(f"the input has more than {MOST_READ} bytes")
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise Silence(f"the input is not JSON: {error}") from None
    if not isinstance(body, dict):
        raise Silence("the input is not a JSON object")
    if len(raw) > MAX_BYTES and (size := len(json.dumps(body.get("tool_input")))) > MAX_BYTES:
        raise Silence(f"the call has {size} bytes, and at most {MAX_BYTES} are asked about")
    return Call(
        event=_read(body, "hook_event_name", str),
        tool=_read(body, "tool_name", str),
        input=_read(body, "tool_input", dict),
        session=_read(body, "session_id", str),
        folder=PurePath(_read(body, "cwd", str)).name,
    )


def _read(body: dict[str, Any], name: str, kind: type) -> Any:
    value = body.get(name)
    if not isinstance(value, kind):
        raise Silence(f"{name} of the input is no {'object' if kind is dict else 'string'}")
    return value


def digest_call(tool: str, arguments: dict[str, Any]) -> str:
    """Returns a digest that is the same for equal calls and does not reveal them."""
    text = json.dumps([tool, arguments], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
