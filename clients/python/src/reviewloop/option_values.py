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
    try:
        value = json.loads(text)
        json.dumps(value, allow_nan=False)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError("not a JSON object")
    return value


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
