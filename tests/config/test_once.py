"""Tokens that let a form make one thing only."""

from config import once
from config.ids import new_id


def test_a_token_names_one_id() -> None:
    token = once.issue("loop", "ada")
    first = once.read(token, "loop", "ada")
    assert first is not None
    assert once.read(token, "loop", "ada") == first
    assert once.read(once.issue("loop", "ada"), "loop", "ada") != first


def test_a_token_is_for_one_person_and_purpose() -> None:
    token = once.issue("loop", "ada")
    assert once.read(token, "loop", "grace") is None
    assert once.read(token, "request", "ada") is None


def test_nobody_chooses_an_id() -> None:
    for made_up in ("", new_id(), "x" * 5000, once.issue("loop", "ada")[:-1]):
        assert once.read(made_up, "loop", "ada") is None
