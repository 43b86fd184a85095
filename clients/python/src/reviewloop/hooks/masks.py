"""Replaces values that look like keys, tokens and passwords by masks, and puts them back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Callable

_NAME = (
    r"(?:password|passwd|passphrase|secret(?:[_-]?key)?|token|credentials?"
    r"|(?:api|access|private|auth|encryption|signing)[_-]?key)"
)
# docs/agents.md lists these. Each masks its group, or all of its match.
_RULES = [
    re.compile(rule)
    for rule in (
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]{0,30}KEY-----|\Z)",
        r"(?<![A-Za-z0-9])(?:sk-|gh[oprsu]_|github_pat_|glpat-|xox[abeoprs]-|npm_|pypi-|hf_|whsec_"
        r"|dop_v1_|(?:sk|rk|rl)_(?:live|test)_)[\w+/=-]{10,}",
        r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}|(?<![A-Za-z0-9])AIza[\w-]{30,}",
        r"(?<![\w-])SG\.[\w-]{16,100}\.[\w-]{16,}",
        r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*",
        r"(?i)\b(?:bearer|basic)[ \t]{1,9}([\w.~+/=-]{8,})",
        r"(?i)authorization[\"']?[:=][ \t]{0,9}[\"']?(?!(?:bearer|basic)\b)"
        r"([^\s\"'$][^\"'\n$]{3,})",
        r"://[^\s/:@]{0,100}:([^\s/:@$][^\s/:@]{0,200})@",
        r"://([^\s/:@$]{20,200})@",
        rf"(?i){_NAME}=(?![\"'$])([^\s\"'&|;<>,)]{{4,}})",
        rf"(?i){_NAME}[\"']?[ \t]{{0,9}}[:=][ \t]{{0,9}}\"(?!\$)([^\"\n]{{4,}})\"",
        rf"(?i){_NAME}[\"']?[ \t]{{0,9}}[:=][ \t]{{0,9}}'([^'\n]{{4,}})'",
        rf"(?i){_NAME}:[ \t]{{0,9}}(?=[^\s\d]{{0,100}}\d)(?![\"'$])([^\s\"',;]{{8,}})",
        rf"(?i)(?<!\w)--?(?:[a-z]+-){{0,3}}{_NAME}[ \t]{{1,9}}[\"']?(?![-\"'$])([^\s\"']{{4,}})",
    )
]
_FIELD = re.compile(rf"(?i)(?:{_NAME}|authorization|pwd)$")
_MASK = re.compile(r"\[masked (\d{1,9})\]")


class Masks:
    """The masks of one call. None of them is equal to a text that the call already has."""

    def __init__(self, call: Any) -> None:
        texts = json.dumps(call, ensure_ascii=False)
        self._taken = {int(number) for number in _MASK.findall(texts)}
        self._by_value: dict[str, str] = {}  # the same value has the same mask

    def describe(self) -> str:
        """Tells people about the masks; '' without any."""
        if not self._by_value:
            return ""
        return (
            f"Masked, and not sent: {', '.join(self._by_value.values())}. It is put back before "
            "the call runs. An edit has to leave masks as they are, or the call is denied."
        )

    def hide(self, value: Any) -> Any:
        """Returns the JSON value with masks in its texts and names."""
        return _map_texts(value, self._hide_text, self._hide_field)

    def restore(self, value: Any) -> Any:
        """Returns the value with the secrets in place of their masks."""
        values = {mask: value for value, mask in self._by_value.items()}

        def restore_text(text: str) -> str:
            return _MASK.sub(lambda found: values.get(found[0], found[0]), text)

        return _map_texts(value, restore_text)

    def find(self, value: Any) -> list[str]:
        """Returns the masks in a value, in a fixed order."""
        found: list[str] = []
        own = set(self._by_value.values())

        def look(text: str) -> str:
            found.extend(mask[0] for mask in _MASK.finditer(text) if mask[0] in own)
            return text

        _map_texts(value, look)
        return sorted(found)

    def _hide_field(self, name: str, text: str) -> str:
        if _FIELD.search(name) and text and not text.startswith("$"):
            return self._make(text)
        return self._hide_text(text)

    def _hide_text(self, text: str) -> str:
        parts, at = [], 0
        for start, end in find_secrets(text):
            parts += [text[at:start], self._make(text[start:end])]
            at = end
        return "".join([*parts, text[at:]])

    def _make(self, value: str) -> str:
        if value not in self._by_value:
            number = 1 + max(self._taken, default=0)
            self._taken.add(number)
            self._by_value[value] = f"[masked {number}]"
        return self._by_value[value]


def find_secrets(text: str) -> list[tuple[int, int]]:
    """Returns the start and the end of each secret, in order and joined where they touch."""
    places = sorted(found.span(found.re.groups) for rule in _RULES for found in rule.finditer(text))
    joined: list[tuple[int, int]] = []
    for start, end in places:
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _map_texts(
    value: Any,
    change: Callable[[str], str],
    change_field: Callable[[str, str], str] | None = None,
) -> Any:
    """Returns the JSON value with every text changed; `change_field` also gets the field's name."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_map_texts(item, change, change_field) for item in value]
    if not isinstance(value, Mapping):
        return value
    return {
        change(name): change_field(name, item)
        if change_field and isinstance(item, str)
        else _map_texts(item, change, change_field)
        for name, item in value.items()
    }
