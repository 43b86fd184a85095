"""Changes a JSON text in one place, and keeps every other byte of it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Union

Path = Sequence[Union[str, int]]  # names and indexes, from the root
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"\s*\{\r?\n([ \t]+)")


@dataclass(frozen=True)
class Item:
    """A member of an object or an element of an array. `start` is where its name begins, if any."""

    name: str | int
    start: int
    value: int
    end: int


def append(text: str, path: Path, value: Any, name: str | None = None) -> str:
    """Adds a last element to the array at `path`, or a last member to the object there."""
    opening = _find(text, path)
    items, closing = _read_items(text, opening)
    rendered = _render(text, value, len(path) + 1)
    if name is not None:
        rendered = f"{json.dumps(name)}: {rendered}"
    line = _break(text, len(path) + 1)
    if items:
        is_one_line = "\n" not in text[opening : items[-1].start]
        return _splice(
            text,
            items[-1].end,
            items[-1].end,
            f", {rendered}" if is_one_line else f",{line}{rendered}",
        )
    return _splice(text, opening + 1, closing, f"{line}{rendered}{_break(text, len(path))}")


def replace(text: str, path: Path, value: Any) -> str:
    start = _find(text, path)
    _, end = _DECODER.raw_decode(text, start)
    return _splice(text, start, end, _render(text, value, len(path)))


def remove(text: str, path: Path) -> str:
    """Removes a member or an element, with its comma."""
    opening = _find(text, path[:-1])
    items, closing = _read_items(text, opening)
    index = [item.name for item in items].index(path[-1])
    if len(items) == 1:
        return _splice(text, opening + 1, closing, "")
    if index == len(items) - 1:
        return _splice(text, items[index - 1].end, items[index].end, "")
    return _splice(text, items[index].start, items[index + 1].start, "")


def _find(text: str, path: Path) -> int:
    """Returns where the value at `path` begins. No object has a name twice."""
    at = _skip(text, 0)
    for name in path:
        items, _ = _read_items(text, at)
        (at,) = (item.value for item in items if item.name == name)
    return at


def _read_items(text: str, opening: int) -> tuple[list[Item], int]:
    """Returns the items of the object or array that begins at `opening`, and where it closes."""
    items: list[Item] = []
    at = _skip(text, opening + 1)
    while text[at] not in "]}":
        start, name = at, len(items)
        if text[opening] == "{":
            name, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        items.append(Item(name, start, at, end))
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return items, at


def _render(text: str, value: Any, depth: int) -> str:
    """Writes the value as the text is written: in lines with its indent, or in one line."""
    if not _break(text, 0):
        return json.dumps(value, ensure_ascii=False)
    unit = _find_unit(text)
    return json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", _break(text, depth))


def _break(text: str, depth: int) -> str:
    """Returns a line break and an indent, or '' for a text of one line that is not empty."""
    if "\n" not in text.strip() and text.strip() != "{}":
        return ""
    return ("\r\n" if "\r\n" in text else "\n") + _find_unit(text) * depth


def _find_unit(text: str) -> str:
    found = _INDENT.match(text)
    return found[1] if found else "  "


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found
    return found.end()


def _splice(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]
