"""Pasted text: what stands around it is dropped, what is invisible inside is refused."""

import pytest

from web.domains import fold
from web.pasted import InvisibleCharacter, clean, clean_code, find_join_code, to_narrow

CODE = "ABCDEFGHJKMN"


@pytest.mark.parametrize(
    "around", ["\u200b", "\u00a0", "\ufeff", "\u00ad", "\u202f", "\u3164", "\n"]
)
def test_ends_are_cleaned(around: str) -> None:
    assert clean(f" {around}a b{around} {around}") == "a b"


@pytest.mark.parametrize("inside", ["\u200b", "\u202e", "\u00ad", "\u3164", "\x07"])
def test_inside_is_refused(inside: str) -> None:
    with pytest.raises(InvisibleCharacter):
        clean(f"a{inside}b")


def test_only_full_width_is_narrowed() -> None:
    assert to_narrow("ａＢ１＠．") == "aB1@."
    assert to_narrow("\u017f\u0131\ufb01") == "\u017f\u0131\ufb01"


@pytest.mark.parametrize(
    "typed",
    [
        "abcd-efgh-jkmn",
        "ABCD–EFGH—JKMN",
        "ABCD\u2011EFGH\u2212JKMN",
        "ABCD\u30fcEFGH\u2043JKMN",
        "ABCD\u2500EFGH\u2022JKMN",
        "ＡＢＣＤＥＦＧＨＪＫＭＮ",
        "<ABCDEFGHJKMN>",
        "“ABCDEFGHJKMN”.",
        "«ABCDEFGHJKMN»",
        "\u200bABCD\u200bEFGH JKMN\ufeff",
        "https://x.example/join/ABCDEFGHJKMN",
        "https://x.example/join/ABCDEFGHJKMN?utm=1",
        "https://x.example/join/ABCDEFGHJKMN/",
        "https://x.example/join/ABCDEFGHJKMN.",
        "<https://x.example/join/ABCDEFGHJKMN>",
        "[Join](https://x.example/join/ABCDEFGHJKMN).",
        "Join here: https://x.example/join/ABCDEFGHJKMN/?utm=1#a, thanks",
    ],
)
def test_a_join_code_is_found(typed: str) -> None:
    assert find_join_code(typed).upper() == CODE


@pytest.mark.parametrize("typed", ["123 456", "123-456", "１２３４５６", "\u200b123–456."])
def test_a_code_of_digits(typed: str) -> None:
    assert clean_code(typed) == "123456"


@pytest.mark.parametrize(
    ("domain", "stored"),
    [
        ("Bücher.example", "xn--bcher-kva.example"),
        ("XN--bcher-kva.example", "xn--bcher-kva.example"),
        ("bu\u0308cher。example", "xn--bcher-kva.example"),
        ("straße.example", "xn--strae-oqa.example"),
        ("strasse.example", "strasse.example"),
        ("-ü-.example", "-ü-.example"),
    ],
)
def test_a_domain_has_one_form(domain: str, stored: str) -> None:
    assert fold(domain) == stored
