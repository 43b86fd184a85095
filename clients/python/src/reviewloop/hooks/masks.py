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
_IS = r"[ \t]{0,9}(?::=|=>|[:=])[ \t]{0,9}"
_NO_VARIABLE = r"(?!\$\(|\$\{?\w{1,99}\}?(?![\w-]))"  # as in PASSWORD=$SECRET, which says nothing
# docs/agents.md lists these. Each masks its group, or all of its match. A list of our own, because
# the package needs nothing but requests, and detect-secrets finds lines rather than values.
_RULES = [
    re.compile(rule)
    for rule in (
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?s:.*?)"
        r"(?:-----END [A-Z ]{0,30}KEY(?: BLOCK)?-----|\Z)",
        r"(?<![A-Za-z0-9])(?:sk-|gh[oprsu]_|github_pat_|glpat-|xox[abeoprs]-|xapp-|npm_|pypi-|hf_"
        r"|whsec_|GOCSPX-|dop_v1_|rl_review_|(?:sk|rk|rl)_(?:live|test)_)[\w+/=-]{10,}",
        r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}|(?<![A-Za-z0-9])AIza[\w-]{30,}",
        r"(?<![\w-])SG\.[\w-]{16,100}\.[\w-]{16,}",
        r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*",
        r"(?i)\b(?:bearer|basic)[ \t]{1,9}([\w.~+/=-]{8,})",
        rf"(?i)authorization[\"']?{_IS}[\"']?(?!(?:bearer|basic)\b){_NO_VARIABLE}"
        r"([^\s\"'][^\"'\n]{3,})",
        rf"://[^\s/:@]{{0,100}}:{_NO_VARIABLE}([^\s/\"']{{1,200}})@",
        rf"://{_NO_VARIABLE}([^\s/:@]{{20,200}})@",
        rf"(?i){_NAME}={_NO_VARIABLE}(?![\"'])((?:\\[^\n]|,(?!\s)|[^\s\"'&|;<>,)\\]){{4,}})",
        rf"(?i){_NAME}\"?{_IS}\"{_NO_VARIABLE}((?:\\[^\n]|[^\"\\\n]){{4,}})\"",
        rf"(?i){_NAME}\\{{1,3}}\"{_IS}\\{{1,3}}\"([^\"\\\n]{{4,}})\\",
        rf"(?i){_NAME}'?{_IS}'([^'\n]{{4,}})'",
        rf"(?i)[\"'][\w-]{{0,40}}{_NAME}:[ \t]{{0,9}}{_NO_VARIABLE}([^\s\"']{{8,}})[\"']",
        rf"(?i){_NAME}:[ \t]{{0,9}}(?=[^\s\d]{{0,100}}\d){_NO_VARIABLE}(?![\"'])([^\s\"',;]{{8,}})",
        rf"(?i){_NAME}[ \t]{{1,9}}=[ \t]{{1,9}}(?=[^\s\d]{{0,100}}\d){_NO_VARIABLE}"
        r"([^\s\"',;()]{8,})",
        rf"(?im)^[ \t]{{0,40}}(?:-[ \t])?[\w.-]{{0,40}}{_NAME}:[ \t]{{1,9}}{_NO_VARIABLE}"
        r"([^\s\"',;(){}|>\[\]]{8,})[ \t]*$",
        rf"(?i)(?<!\w)--?(?:[a-z]+-){{0,3}}{_NAME}[ \t]{{1,9}}[\"']?(?!-){_NO_VARIABLE}"
        r"([^\s\"']{4,})",
        rf"(?i)\bset[ \t]{{1,9}}[\w.-]{{0,60}}{_NAME}[ \t]{{1,9}}{_NO_VARIABLE}([^\s\"']{{8,}})",
    )
]
_FIELD = re.compile(rf"(?i)(?:{_NAME}|authorization|pwd)$")
_OPTION = re.compile(rf"(?i)--?(?:[a-z]+-){{0,3}}{_NAME}$")
_VARIABLE = re.compile(r"\$(?:\(.*\)|\{?\w+\}?)")
MOST_LOOKED_FOR = 100  # found values that are also looked for in the rest of the call
LEAST_LOOKED_FOR = 8  # characters of such a value
MOST_NAMED = 10  # masks that are named to people
_MASK = re.compile(r"\[masked (\d{1,9})\]")


class Masks:
    """The masks of one call. None of them is equal to a text that the call already has."""

    def __init__(self, call: Any) -> None:
        texts = json.dumps(call, ensure_ascii=False)
        self._last = max(map(int, _MASK.findall(texts)), default=0)
        self._by_value: dict[tuple[type, Any], str] = {}  # the same value has the same mask

    def describe(self) -> str:
        """Tells people about the masks; '' without any."""
        masks = list(self._by_value.values())
        if not masks:
            return ""
        more = len(masks) - MOST_NAMED
        named = ", ".join(masks[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
        return (
            f"Masked, and not sent: {named}. It is put back before "
            "the call runs. An edit has to leave masks as they are, or the call is denied."
        )

    def hide(self, value: Any) -> Any:
        """Returns the JSON value with masks in its texts and names.

        A value that is found once is masked wherever else the call has it.
        """
        hidden = self._hide(value)
        known = {
            text: mask
            for (kind, text), mask in self._by_value.items()
            if kind is str and len(text) >= LEAST_LOOKED_FOR
        }
        looked_for = sorted(list(known)[:MOST_LOOKED_FOR], key=len, reverse=True)
        # Masks first, so that none of them is changed.
        found = re.compile("|".join([_MASK.pattern, *map(re.escape, looked_for)]))
        return _map_texts(
            hidden, lambda text: found.sub(lambda part: known.get(part[0], part[0]), text)
        )

    def restore(self, value: Any) -> Any:
        """Returns the value with the secrets in place of their masks."""
        values = {mask: value for (_, value), mask in self._by_value.items()}

        def restore_text(text: str) -> Any:
            if text in values:
                return values[text]  # it may have been a number
            return _MASK.sub(lambda found: str(values.get(found[0], found[0])), text)

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

    def _hide(self, value: Any, is_secret: bool = False) -> Any:
        """Masks what looks like a secret; all of the value where its name says that it is one."""
        if isinstance(value, Mapping):
            named = value.get("name", value.get("key"))
            is_pair = isinstance(named, str) and _FIELD.search(named) is not None
            return {
                self._hide_text(name): self._hide(
                    item,
                    is_secret or _FIELD.search(name) is not None or (is_pair and name == "value"),
                )
                for name, item in value.items()
            }
        if isinstance(value, list):
            named = _FIELD.search if len(value) == 2 else _OPTION.fullmatch
            options = [isinstance(each, str) and named(each) for each in value]
            return [
                self._hide(item, is_secret or bool(is_option))
                for item, is_option in zip(value, [None, *options])
            ]
        if is_secret and _says_something(value):
            return self._make(value)
        return self._hide_text(value) if isinstance(value, str) else value

    def _hide_text(self, text: str) -> str:
        parts, at = [], 0
        for start, end in find_secrets(text):
            parts += [text[at:start], self._make(text[start:end])]
            at = end
        return "".join([*parts, text[at:]])

    def _make(self, value: Any) -> str:
        key = (type(value), value)
        if key not in self._by_value:
            self._last += 1
            self._by_value[key] = f"[masked {self._last}]"
        return self._by_value[key]


def _says_something(value: Any) -> bool:
    """Tells whether a secret's field has one, and no variable, switch or small number."""
    if isinstance(value, str):
        return value != "" and not _VARIABLE.fullmatch(value)
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) >= 1000


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


def _map_texts(value: Any, change: Callable[[str], Any]) -> Any:
    """Returns the JSON value with every text and name changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_map_texts(item, change) for item in value]
    if not isinstance(value, Mapping):
        return value
    return {str(change(name)): _map_texts(item, change) for name, item in value.items()}
