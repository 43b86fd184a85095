"""Reads the values of options of the command line. Each function raises ArgumentTypeError."""

from __future__ import annotations

import argparse
import json
from typing import Any

from reviewloop.durations import read_seconds


def read_options(text: str) -> list[str]:
    options = [option.strip() for option in text.split(",")]
    if not all(options):
        raise argparse.ArgumentTypeError("an option is empty")
    return options


def read_object(text: str) -> dict[str, Any]:
    return _require_object(_parse(text))


def read_unique_object(text: str) -> dict[str, Any]:
    """Refuses also a name that occurs twice: programs differ in which of its values they read."""
    return _require_object(_parse(text, object_pairs_hook=_build_unique))


def read_form(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            return read_object(file.read())
    except (OSError, UnicodeDecodeError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def read_pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise argparse.ArgumentTypeError("not KEY=VALUE")
    return key, value


def check_name(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return text


def check_timeout(text: str) -> str:
    try:
        read_seconds(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


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
