"""Walks through a value of JSON with the path of each part, such as `items[2].sku`.

Names have no limit of their own, so paths are cut and built one at a time: an object of 256 KiB
would otherwise take gigabytes.
"""

from collections.abc import Iterator
from typing import Any

MAX_PATH = 120  # characters


def walk(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yields the value and all names and values in it, each with its path."""
    yield path, value
    open_parts = [_list_parts(path, value)]
    while open_parts:
        part = next(open_parts[-1], None)
        if part is None:
            open_parts.pop()
            continue
        yield part
        if isinstance(part[1], dict | list):
            open_parts.append(_list_parts(*part))


def join(path: str, part: str | int) -> str:
    """Returns the path of a child, as much of it as is shown."""
    if len(path) > MAX_PATH:
        return path
    dot = "." if path else ""
    longer = f"{path}[{part}]" if isinstance(part, int) else f"{path}{dot}{part}"
    return longer if len(longer) <= MAX_PATH else f"{longer[:MAX_PATH]}…"


def _list_parts(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, child in value.items():
            yield f"a name in {path or 'body'}", name
            yield join(path, name), child
    elif isinstance(value, list):
        for place, child in enumerate(value):
            yield join(path, place), child
