"""Which passwords are refused because they were in a breach."""

import pytest
from django.core.exceptions import ValidationError
from hypothesis import given
from hypothesis import strategies as st

from accounts.passwords import BreachedPassword, GoodPassword, list_variants

FORBIDDEN = "This password is too common."


def is_refused(password: str) -> bool:
    try:
        GoodPassword().validate(password)
    except ValidationError as fault:
        return FORBIDDEN in fault.messages
    return False


@pytest.mark.parametrize(
    "password",
    [
        "password", "PASSWORD", "password1234", "Password123!", "!!dragon2024", "p4ssw0rd",
        "P@$$w0rd", "Sunshine99!", "s3cr3t!!", "trustno1", "12345678", "1234567890", "qwertyuiop",
        " password ", "iloveyou!!!!",
    ],
)  # fmt: skip
def test_a_breached_one_and_its_variants(password: str) -> None:
    assert is_refused(password)


@pytest.mark.parametrize(
    "password",
    [
        "correct horse battery", "a rather long password", "tidal-power-harbour", "Xq7v!mR2zPk9",
        "päßwörtlich", "dragon eats the moon", "passwordless is the future",
    ],
)  # fmt: skip
def test_a_good_one(password: str) -> None:
    assert not is_refused(password)


def test_how_many_are_known() -> None:
    """The figure of docs/operations.md."""
    assert len(BreachedPassword().passwords) == 19_640


@given(st.text(max_size=200))
def test_any_text_has_few_variants(text: str) -> None:
    assert len(list(list_variants(text))) <= 7
