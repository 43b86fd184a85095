"""A proposed call as people see it."""

from typing import Any

import pytest
from django.utils import translation

from reviews.proposal_table import build_with, show, write_exactly


def table(arguments: Any, decided: Any = None) -> Any:
    return build_with({"proposal": {"name": "call", "arguments": arguments}}, decided)


@pytest.mark.parametrize(
    ("value", "text", "is_code", "is_word"),
    [
        ("Dear Ada, hello.", "Dear Ada, hello.", False, False),
        ("two\nlines of text", "two\nlines of text", False, False),
        ("ORD-1", "ORD-1", True, False),
        ("rm -rf /tmp/x", "rm -rf /tmp/x", True, False),
        ("if x:\n  go", "if x:\n  go", True, False),
        ("", "", False, True),
        (12.5, "12.5", True, False),
        (9007199254740991, "9007199254740991", True, False),
        (True, "yes", False, True),
        (None, "none", False, True),
        ([], "[]", True, False),
        ({}, "{}", True, False),
        ("yes", '"yes"', True, False),
        ("None", '"None"', True, False),
        ("empty", '"empty"', True, False),
        ("12.5", '"12.5"', True, False),
        (" 1", '" 1"', False, False),
        ("[]", '"[]"', True, False),
        ('"1"', '""1""', True, False),
        ('"', '""' + '"', True, False),
        ("  ", '"  "', True, False),
        ("a\u202egpj.exe", "a‹U+202E›gpj.exe", True, False),
        ("tag\U000e0041", "tag‹U+E0041›", True, False),
        ("zero\u200bwidth\x1b", "zero‹U+200B›width‹U+001B›", True, False),
        ("👩\u200d🚀", "👩\u200d🚀", True, False),
    ],
)
def test_values(value: Any, text: str, is_code: bool, is_word: bool) -> None:
    shown = show(value)
    assert (shown.text, shown.is_code, shown.is_word) == (text, is_code, is_word)
    assert not shown.is_folded


def test_long_and_nested_values_are_folded() -> None:
    assert show("x" * 401).size == "401 characters"
    assert show("a\n" * 10).is_folded
    assert show("a b " * 300).text == "a b " * 300
    nested = show({"a": {"b\u202e": "<b>\u202e"}})
    assert nested.size == "1 field"
    assert "‹U+202E›" in str(nested.outline)
    assert "&lt;b&gt;" in str(nested.outline)
    assert "\u202e" not in str(nested.outline)
    assert nested.is_open
    assert not show(list(range(9))).is_open


def test_what_was_changed() -> None:
    rows = table({"a": 1, "b": 1, "c": [1]}, {"a": 1.0, "b": True, "c": [2]})
    assert [row.name for row in rows.changed_rows] == ["b", "c"]
    assert table({"a": 1}).changed_rows == []
    assert table({"x\u2066": 1}).rows[0].name == "x‹U+2066›"


def test_no_name_hides_another() -> None:
    nested = {"x\u200b": "rm -rf /srv", "x‹U+200B›": "ls"}
    for value in (nested, [nested], {"deep": [nested]}):
        outline = str(show(value).outline)
        assert outline.count("x‹U+200B›:") == 2
        assert "rm -rf /srv" in outline
        assert "ls<" in outline


ALIKE = [True, "yes", "true", False, "no", None, "none", "null", 1, "1", "1.0", 1.5, "1.5", "", " "]
ALIKE += [[], "[]", {}, "{}", '"1"', '""', '"yes"', '"', "empty", "ja", "leer", "nein", "kein"]


@pytest.mark.parametrize("language", ["en", "de"])
def test_different_values_read_differently(language: str) -> None:
    with translation.override(language):
        assert len({write_exactly(each) for each in ALIKE}) == len(ALIKE)
        nested = [str(show([each]).outline) for each in ALIKE]
        assert len(set(nested)) == len(ALIKE)
        single = [(each.text, each.is_word) for each in map(show, ALIKE)]
        assert len(set(single)) == len(ALIKE)
