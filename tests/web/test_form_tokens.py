"""Tokens that let a form make one thing only."""

from db.ids import new_id
from web import form_tokens


def test_a_token_names_one_id() -> None:
    token = form_tokens.issue("loop", "ada")
    first = form_tokens.read(token, "loop", "ada")
    assert first is not None
    assert form_tokens.read(token, "loop", "ada") == first
    assert form_tokens.read(form_tokens.issue("loop", "ada"), "loop", "ada") != first


def test_a_token_is_for_one_person_and_purpose() -> None:
    token = form_tokens.issue("loop", "ada")
    assert form_tokens.read(token, "loop", "grace") is None
    assert form_tokens.read(token, "request", "ada") is None


def test_nobody_chooses_an_id() -> None:
    for made_up in ("", new_id(), "x" * 5000, form_tokens.issue("loop", "ada")[:-1]):
        assert form_tokens.read(made_up, "loop", "ada") is None
