"""Reads the JSON that a person types as an option of a command."""

from __future__ import annotations

import argparse
import json
from typing import Any


def read_object(text: str) -> dict[str, Any]:
    """Raises ArgumentTypeError."""
    return _require_object(_parse(text))


def read_unique_object(text: str) -> dict[str, Any]:
    """Refuses also a name that occurs twice: programs differ in which of its values they read.

    Raises ArgumentTypeError.
    """
    return _require_object(_parse(text, object_pairs_hook=_build_unique))


def _parse(text: str, **hooks: Any) -> Any:
    try:
        value = json.loads(text, **hooks)
        json.dumps(value, allow_nan=False)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"not JSON: {error}") from None
    return value


def _require_object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError("not a JSON object")
    return value


def _build_unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built: dict[str, Any] = {}
    for name, value in pairs:
        if name in built:
            raise argparse.ArgumentTypeError(f"the name {name!r} occurs twice")
        built[name] = value
    return built
