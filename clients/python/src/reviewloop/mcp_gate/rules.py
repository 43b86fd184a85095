"""Reads the settings of the gate: which tools are asked about, and how."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from reviewloop.durations import RULE, read_seconds
from reviewloop.errors import ConfigurationError

ACTIONS = ("approve", "edit", "reject", "respond")
PRIORITIES = ("low", "medium", "high", "critical")
MOST_PATIENCE = 3600
VERDICTS = ("refuse", "ask", "pass")  # the strictest one of a name counts


@dataclass(frozen=True)
class Rules:
    """The settings of a file, or their defaults. `tools` has the patterns of each verdict."""

    tools: Mapping[str, list[str]] = field(default_factory=dict)
    loop: str | None = None
    timeout: str = "10m"
    priority: str = "medium"
    actions: list[str] = field(default_factory=lambda: list(ACTIONS))
    mask: bool = True  # values that look like secrets
    patience: float = 60.0  # seconds for which a call to the service is repeated

    def judge(self, name: str) -> str | None:
        """Returns the strictest verdict whose patterns match the name; None if none does."""
        for verdict in VERDICTS:
            if any(fnmatchcase(name, pattern) for pattern in self.tools.get(verdict, ())):
                return verdict
        return None


def read_rules(path: str | None, **given: Any) -> Rules:
    """Reads a file of settings. Those in `given` replace the file's, unless they are None.

    Raises ConfigurationError.
    """
    found = {} if path is None else parse(Path(path))
    found.update({name: value for name, value in given.items() if value is not None})
    try:
        for name, value in found.items():
            check(name, value)
    except ValueError as error:
        raise ConfigurationError(f"{path}: {error}" if path else str(error)) from None
    tools = {verdict: found.pop(verdict) for verdict in VERDICTS if verdict in found}
    return Rules(tools=tools, **found)


def parse(path: Path) -> dict[str, Any]:
    try:
        if sys.version_info >= (3, 11):
            import tomllib
        else:
            import tomli as tomllib  # with the extra `gate`
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(str(error)) from None
    except (ImportError, ValueError) as error:  # of TOML, or of UTF-8
        raise ConfigurationError(f"{path}: {error}") from None


def check(name: str, value: Any) -> None:
    """Checks one setting. Raises ValueError with a sentence."""
    if name not in SETTINGS:
        raise ValueError(f"there is no setting {name!r}; the settings are {', '.join(SETTINGS)}")
    is_valid, rule = SETTINGS[name]
    if not is_valid(value):
        raise ValueError(f"{name} is {rule}")


def is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def are_actions(value: Any) -> bool:
    if not (is_list_of_texts(value) and value):
        return False
    return set(value) <= set(ACTIONS) and len(set(value)) == len(value)


def is_duration(value: Any) -> bool:
    try:
        read_seconds(value if isinstance(value, str) else "")
    except ValueError:
        return False
    return True


def is_patience(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= MOST_PATIENCE


PATTERNS = (is_list_of_texts, 'a list of names or patterns, such as ["delete_*"]')
SETTINGS: dict[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(VERDICTS, PATTERNS),
    "loop": (lambda value: isinstance(value, str), "the name or the id of a loop"),
    "timeout": (is_duration, f"a duration: {RULE}"),
    "priority": (lambda value: value in PRIORITIES, f"one of {', '.join(PRIORITIES)}"),
    "actions": (are_actions, f"a list of {', '.join(ACTIONS)}, each at most once"),
    "mask": (lambda value: isinstance(value, bool), "true or false"),
    "patience": (is_patience, f"a number of seconds from 0 to {MOST_PATIENCE}"),
}
