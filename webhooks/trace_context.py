"""Reads and continues traces (W3C Trace Context, the header `traceparent`). Pure."""

import re
import secrets

LENGTH = 55  # of a value in version 00, the one that is stored and sent
_FLAGS = 0x03  # sampled, and since Level 2 random; version 00 has no others
_TRACEPARENT = re.compile(
    r"(?P<version>[0-9a-f]{2})-(?P<trace>[0-9a-f]{32})-(?P<parent>[0-9a-f]{16})"
    r"-(?P<flags>[0-9a-f]{2})(?P<more>-.*)?",
    re.ASCII,
)


def read_traceparent(header: object) -> str | None:
    """Reads a header and returns it in version 00; None if it is invalid, which is no error.

    Of a later version only what version 00 has is kept, as the standard wants.
    """
    found = _TRACEPARENT.fullmatch(header.strip(" \t")) if isinstance(header, str) else None
    if found is None:
        return None
    version, trace, parent, flags, more = found.groups()
    if version == "ff" or (version == "00" and more) or not (int(trace, 16) and int(parent, 16)):
        return None
    return f"00-{trace}-{parent}-{int(flags, 16) & _FLAGS:02x}"


def continue_trace(traceparent: str) -> str:
    """Returns the header for a call that belongs to the trace, with a parent id of its own."""
    version, trace, _, flags = traceparent.split("-")
    parent = secrets.randbits(64) or 1  # zero is invalid
    return f"{version}-{trace}-{parent:016x}-{flags}"
