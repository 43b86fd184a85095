"""Gives each call an id, the `request_id` of its log lines, deliveries and notifications."""

import re
import secrets

from structlog.contextvars import bind_contextvars, get_contextvars, unbind_contextvars

HEADER = "X-Request-Id"
_VALID = re.compile(r"[A-Za-z0-9._:/+=@-]{1,64}\Z")


def begin(given: str) -> str:
    """Begins a call with the id of its client or a proxy, or with a new one."""
    call_id = given if _VALID.match(given) else secrets.token_hex(8)
    bind_contextvars(request_id=call_id)
    return call_id


def end() -> None:
    """Clears the id before the next call of this thread."""
    unbind_contextvars("request_id")


def current() -> str | None:
    """Returns the id of the call of this thread; None in background work."""
    call_id: str | None = get_contextvars().get("request_id")
    return call_id
