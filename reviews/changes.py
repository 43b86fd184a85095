"""Compares two versions of a question: the words of their texts, and the values of JSON objects.

Pure, and of bounded cost: a text has at most 2,000 characters, and of values the first MAX_CHANGES
differences are found.
"""

import difflib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from web.json_paths import join

MAX_CHANGES = 30
_WORD = re.compile(r"\w+(?:[.,]\w+)*|\s+|.", re.DOTALL)
_MISSING = object()


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of the compared texts: in both, or only in one of them."""

    text: str
    is_removed: bool = False
    is_added: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """A value that differs. `has_before` and `has_after` tell whether the version has it at all."""

    path: str
    before: Any = None
    after: Any = None
    has_before: bool = True
    has_after: bool = True


def compare_texts(before: str, after: str) -> list[Part]:
    """Compares two texts word by word. What is removed comes before what takes its place."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    matcher = difflib.SequenceMatcher(None, old, new)
    parts = []
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        removed, added = "".join(old[i1:i2]), "".join(new[j1:j2])
        if kind == "equal":
            parts.append(Part(removed))
            continue
        if removed:
            parts.append(Part(removed, is_removed=True))
        if added:
            parts.append(Part(added, is_added=True))
    return parts


def compare_values(before: Any, after: Any) -> list[Change]:
    """Compares two JSON values and returns the first MAX_CHANGES differences, and one more if there
    are more. A path has dots: `order.items.2`."""
    found = []
    for change in _compare(before, after, ""):
        found.append(change)
        if len(found) > MAX_CHANGES:
            break
    return found


def _compare(before: Any, after: Any, path: str) -> Iterator[Change]:
    old, new = _list_entries(before), _list_entries(after)
    if type(before) is not type(after) or old is None or new is None:
        if _write(before) != _write(after):
            yield _build_change(path, before, after)
        return
    for name in [*old, *(name for name in new if name not in old)]:
        inside = old.get(name, _MISSING), new.get(name, _MISSING)
        yield from _compare(*inside, join(path, name))


def _list_entries(value: Any) -> dict[str, Any] | None:
    """Returns the entries of an object or an array by name; arrays count from 1, as pages do."""
    if isinstance(value, list):
        return {str(number): entry for number, entry in enumerate(value, start=1)}
    return value if isinstance(value, dict) else None


def _build_change(path: str, before: Any, after: Any) -> Change:
    has_before, has_after = before is not _MISSING, after is not _MISSING
    return Change(
        path,
        before if has_before else None,
        after if has_after else None,
        has_before=has_before,
        has_after=has_after,
    )


def _write(value: Any) -> str:
    """Writes a value so that 1, 1.0, true and "1" differ."""
    return "" if value is _MISSING else json.dumps(value)
