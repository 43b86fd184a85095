"""Builds sentences in English, which are translated when a page shows them. Pure.

Programs get the English text itself, for example in an error of the API.
"""

from collections.abc import Sequence
from typing import Any


class Phrase(str):
    """An English text that knows its template and values, so that it can be translated."""

    __slots__ = ("plural", "template", "values")

    template: str
    plural: str  # the template for other numbers than one, or ''
    values: dict[str, Any]


class Count(int):
    """A whole number that is written with separators between thousands."""

    def __str__(self) -> str:
        return f"{int(self):,}"


def say(template: str, /, **values: Any) -> Phrase:
    """Writes a sentence; `%(name)s` stands for a value."""
    return _write(template, "", values)


def say_count(one: str, many: str, /, *, count: int, **values: Any) -> Phrase:
    """Writes a sentence with a count: `one` for 1, `many` for other numbers."""
    return _write(one, many, {"count": count, **values})


def join_alternatives(words: Sequence[str]) -> str:
    """Joins words as in a sentence: A, B or C."""
    if len(words) < 2:
        return "".join(words)
    return say("%(first)s or %(last)s", first=", ".join(words[:-1]), last=words[-1])


def _write(template: str, plural: str, values: dict[str, Any]) -> Phrase:
    chosen = plural if plural and values["count"] != 1 else template
    phrase = Phrase(chosen % values if values else chosen)
    phrase.template, phrase.plural, phrase.values = template, plural, values
    return phrase
