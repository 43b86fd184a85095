"""Writes JSON in the one form of RFC 8785 and compares values by it. Pure.

Two values with the same canonical form are the same to every program: the order of names, the
spelling of numbers and escapes do not count. Programs read a number beyond 2^53 - 1 differently, so
digests refuse it, and a lone surrogate is no text.
"""

import hashlib
from typing import Any

import rfc8785

from web.json_paths import join, walk
from web.sanitize import UNSTORABLE

MAX_NUMBER = 2**53 - 1


class NotCanonical(ValueError):
    """The value has no digest. The argument is a sentence that names the place."""


def canonicalize(value: Any) -> bytes:
    """Writes a value without faults in its canonical form."""
    return rfc8785.dumps(value)


def compute_digest(value: Any) -> str:
    """Computes the SHA-256 of the canonical form, in hexadecimal. Raises NotCanonical."""
    if fault := find_fault(value):
        raise NotCanonical(fault)
    return hashlib.sha256(canonicalize(value)).hexdigest()


def find_fault(value: Any, path: str = "value") -> str | None:
    """Says what has no digest, and where below `path`; None if the value has one."""
    for place, item in walk(path, value):
        if isinstance(item, str) and UNSTORABLE.search(item):
            what = "NUL characters" if "\0" in item else "lone surrogates"
            return f"{place} must not contain {what}"
        if isinstance(item, int | float) and not abs(item) <= MAX_NUMBER:
            return f"{place} must be a number between -{MAX_NUMBER} and {MAX_NUMBER}"
    return None


def find_difference(approved: Any, sent: Any, path: str = "value") -> str | None:
    """Returns the path of the first difference; None if both have the same canonical form.

    Both must be without faults. Names are in the order of `approved`, then of `sent`.
    """
    if isinstance(approved, dict) and isinstance(sent, dict):
        names: list[str | int] = list({**approved, **sent})
    elif isinstance(approved, list) and isinstance(sent, list):
        names = list(range(max(len(approved), len(sent))))
    else:
        return None if canonicalize(approved) == canonicalize(sent) else path
    for name in names:
        below = join(path, name)
        if not (_has(approved, name) and _has(sent, name)):
            return below
        if different := find_difference(approved[name], sent[name], below):
            return different
    return None


def _has(holder: Any, name: str | int) -> bool:
    return name in holder if isinstance(holder, dict) else name < len(holder)  # type: ignore[operator]
