"""Defaults, answers and forms of the answer types."""

import json
from typing import Any

import pytest

from reviews.models import Request
from reviews.response_types import (
    TYPES,
    InvalidAnswer,
    InvalidConfiguration,
    InvalidDefault,
    ResponseType,
    UnknownResponseType,
    get_response_type,
    list_names,
)
from reviews.response_types.base import OneField, Page

SELECT = {"options": [{"value": "a", "label": "A"}, "b", "c"]}
CONFIGS: dict[str, dict[str, Any]] = {
    "text": {},
    "single_select": SELECT,
    "multi_select": SELECT,
    "rating": {"scale_max": 5},
    "number": {"max_value": 100},
    "form": {
        "schema": {
            "type": "object",
            "properties": {
                "n": {"type": "integer", "maximum": 5},
                "s": {"type": "string", "maxLength": 2},
                "d": {"type": "string", "format": "date"},
                "e": {"type": "string", "enum": ["a", "b"]},
                "m": {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1},
            },
            "required": ["n", "s"],
        }
    },
}
MISFITS: dict[str, list[object]] = {
    "form": [None, "", 5, [], [{}]],
    "text": [5, True, [], {}],
    "single_select": ["A", " a", "", 5, ["a"], {}, True],
    "multi_select": ["A", [], ["a", "x"], ["a", 1], [["a"]]],
}
UNOFFERED: list[object] = ["a", ["x"], ["a", 1], [["a"]], {"a": 1}]
NO_MATCH = "default_response must match one of the configured options"


def one_field(name: str) -> OneField:
    kind = get_response_type(name)
    assert isinstance(kind, OneField)
    return kind


def test_the_types_stand_in_the_order_of_the_specification() -> None:
    assert list_names() == (
        "text", "single_select", "multi_select", "rating", "number", "form", "approval",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["", "date", "Text", "text "])
def test_an_unknown_type_is_nobodys_number(name: str) -> None:
    with pytest.raises(UnknownResponseType, match=f"^{name}$"):
        get_response_type(name)


@pytest.mark.parametrize("kind", TYPES.values(), ids=list_names())
def test_what_a_type_says_of_itself_fits_the_rest(kind: ResponseType) -> None:
    assert TYPES[kind.name] is kind
    assert len(kind.name) <= (Request._meta.get_field("response_type").max_length or 0)
    kind.check_configuration(kind.example.config)
    kind.check_default(kind.example.config, kind.example.default)
    described = {setting.name for setting in kind.settings} | {"required"}
    assert set(kind.example.config) <= described
    mandatory = {setting.name for setting in kind.settings if setting.is_mandatory}
    assert mandatory <= set(kind.example.config)


def test_settings_of_the_same_name_are_the_same() -> None:
    """The dashboard asks for them once."""
    settings = [setting for kind in TYPES.values() for setting in kind.settings]
    by_name = {setting.name: setting for setting in settings}
    assert all(by_name[setting.name] == setting for setting in settings)


@pytest.mark.parametrize(
    ("kind", "default"),
    [
        ("text", "No answer"),
        ("text", ""),
        ("single_select", "a"),
        ("multi_select", "b"),
        ("multi_select", ["c", "a"]),
        ("rating", 99),
        ("rating", 2.5),
        ("number", -1e300),
        ("number", 0),
        ("form", {}),
        ("form", {"n": 99, "s": "too long", "m": []}),
        ("form", {"e": "b", "d": "2026-12-31"}),
    ],
)
def test_default_fits_its_type_and_ignores_the_bounds(kind: str, default: object) -> None:
    get_response_type(kind).check_default(CONFIGS[kind], default)


@pytest.mark.parametrize(
    ("kind", "default", "detail"),
    [
        ("text", None, "default_response must be a string"),
        ("single_select", None, "default_response must match one of the configured options"),
        ("multi_select", None, "default_response must match one of the configured options"),
        ("rating", None, "default_response must be a number"),
        ("number", None, "default_response must be a number"),
        *(("text", wrong, "default_response must be a string") for wrong in MISFITS["text"]),
        *(("single_select", wrong, NO_MATCH) for wrong in MISFITS["single_select"]),
        *(("multi_select", wrong, NO_MATCH) for wrong in MISFITS["multi_select"]),
        ("multi_select", ["a", "a"], "default_response must not contain an option twice"),
        *(("form", wrong, "default_response must be an object") for wrong in MISFITS["form"]),
        ("form", {"n": "5"}, "default_response.n must be an integer"),
        ("form", {"n": True}, "default_response.n must be an integer"),
        ("form", {"n": 2**53}, "default_response.n must be at most 9007199254740991"),
        ("form", {"n": None}, "default_response.n must be an integer"),
        ("form", {"d": "soon"}, "default_response.d must be a date such as 2026-12-31"),
        ("form", {"e": "c"}, "default_response.e must be one of the options"),
        ("form", {"m": ["c"]}, "default_response.m must only have values of the options"),
        ("form", {"x": 5}, "default_response.x is no field of the schema"),
        ("form", {"__proto__": {}}, "default_response.__proto__ is no field of the schema"),
        *(
            (kind, wrong, "default_response must be a number")
            for kind in ("rating", "number")
            for wrong in ("5", True, [5], float("nan"), float("-inf"), 10**400)
        ),
    ],
)
def test_default_is_refused(kind: str, default: object, detail: str) -> None:
    with pytest.raises(InvalidDefault) as refused:
        get_response_type(kind).check_default(CONFIGS[kind], default)
    assert str(refused.value) == detail


ACCEPTED: list[tuple[str, dict[str, Any], object, object]] = [
    ("text", {}, " as\nwritten ", " as\nwritten "),
    ("text", {"max_length": 2}, "😀😀", "😀😀"),
    ("text", {"required": False, "min_length": 5}, "", ""),
    ("text", {"required": False}, None, ""),
    ("text", {}, "x" * 10000, "x" * 10000),
    ("single_select", SELECT, "b", "b"),
    ("multi_select", SELECT, ["c", "a"], ["a", "c"]),
    ("multi_select", {**SELECT, "required": False, "min_selections": 2}, [], []),
    ("rating", {"scale_max": 5}, 5.0, 5),
    ("rating", {"scale_max": 1, "scale_min": 0, "scale_step": 0.1}, 0.3, 0.3),
    ("rating", {"scale_max": 5, "scale_min": 0.5, "scale_step": 0.5}, 4.5, 4.5),
    ("number", {"max_value": 100}, 99.99, 99.99),
    ("form", CONFIGS["form"], {"s": "ab", "n": 5.0}, {"n": 5, "s": "ab"}),
    ("number", {"max_value": 100}, 1.0, 1),
    ("number", {"max_value": 5, "allow_negative": True}, -5, -5),
    ("number", {"max_value": 5, "min_value": 0}, -0.0, 0),
    ("number", {"max_value": 1e300}, 1e299, 1e299),
]


@pytest.mark.parametrize(("kind", "config", "answer", "expected"), ACCEPTED)
def test_answer(kind: str, config: dict[str, Any], answer: object, expected: object) -> None:
    given = get_response_type(kind).check_answer(config, answer)
    assert json.dumps(given) == json.dumps(expected)  # 5 is not 5.0, and the order counts
    assert type(given) is type(expected)


UNSTORABLE = "The answer contains a character that cannot be stored"
REFUSED: list[tuple[str, dict[str, Any], object, str]] = [
    ("text", {}, None, "Write an answer"),
    ("text", {}, "", "Write an answer"),
    ("text", {}, " \n\u3000", "Write an answer"),
    ("text", {}, 5, "The answer must be text"),
    ("text", {"min_length": 5}, "four", "The answer must have at least 5 characters"),
    ("text", {"max_length": 1}, "ab", "The answer must have at most 1 character"),
    ("text", {}, "x" * 10001, "The answer must have at most 10000 characters"),
    ("text", {}, "a\0", UNSTORABLE),
    ("text", {}, "\ud83d", UNSTORABLE),
    *(
        ("single_select", {**SELECT, "required": False}, wrong, "Choose one of the options")
        for wrong in [None, *MISFITS["single_select"]]
    ),
    ("multi_select", SELECT, None, "Choose at least 1 option"),
    ("multi_select", SELECT, [], "Choose at least 1 option"),
    ("multi_select", {**SELECT, "min_selections": 0}, [], "Choose at least 1 option"),
    ("multi_select", {**SELECT, "min_selections": 2}, ["a"], "Choose at least 2 options"),
    ("multi_select", {**SELECT, "max_selections": 1}, ["a", "b"], "Choose at most 1 option"),
    *(("multi_select", SELECT, wrong, "Choose only from the options") for wrong in UNOFFERED),
    ("multi_select", SELECT, ["a", "a"], "Choose each option only once"),
    *(
        ("rating", {"scale_max": 5, "required": False}, wrong, "Choose a rating")
        for wrong in (None, "5", True, float("nan"), 10**400)
    ),
    ("rating", {"scale_max": 5}, 0, "The rating must be between 1 and 5"),
    ("rating", {"scale_max": 5}, 5.1, "The rating must be between 1 and 5"),
    ("rating", {"scale_max": 5}, 2.5, "The rating must go in steps of 1 from 1"),
    (
        "rating",
        {"scale_max": 1, "scale_min": 0, "scale_step": 0.1},
        0.1 + 0.2,
        "The rating must go in steps of 0.1 from 0",
    ),
    ("rating", {"scale_max": 5, "min": -5}, 1e-300, "The rating must go in steps of 1 from -5"),
    *(("number", {"max_value": 5}, wrong, "Enter a number") for wrong in (None, "5", False, [5])),
    ("number", {"max_value": 5}, 0.99, "The number must be between 1 and 5"),
    (
        "number",
        {"max_value": 0, "allow_negative": True},
        1,
        "The number must be between 0 and 0",
    ),
    ("number", {"max_value": 5}, 5.001, "The number must be between 1 and 5"),
    ("number", {"max_value": 5}, 1.001, "The number must have at most 2 decimal places"),
    (
        "number",
        {"max_value": 5, "decimal_places": 1},
        1.25,
        "The number must have at most 1 decimal place",
    ),
    ("number", {"max_value": 5, "decimal_places": 0}, 1.5, "The number must be a whole number"),
]


@pytest.mark.parametrize(("kind", "config", "answer", "sentence"), REFUSED)
def test_answer_is_refused(
    kind: str, config: dict[str, Any], answer: object, sentence: str
) -> None:
    with pytest.raises(InvalidAnswer) as refused:
        get_response_type(kind).check_answer(config, answer)
    assert str(refused.value) == sentence


def test_a_configuration_that_was_never_checked_is_a_fault_of_its_own() -> None:
    with pytest.raises(InvalidConfiguration):
        get_response_type("rating").check_answer({}, 5)
    with pytest.raises(InvalidConfiguration):
        get_response_type("single_select").check_default({}, "a")


WIDE = {"max_value": 1_000_000, "allow_negative": True}


@pytest.mark.parametrize(
    ("posted", "expected"),
    [
        ("5", 5),
        ("-3.25", -3.25),
        (" 4 ", 4),
        ("+4", 4),
        ("3,5", 3.5),
        (".5", 0.5),
        ("0,500", 0.5),
        ("5.00", 5),
        ("007", 7),
        ("-0", 0),
        ("1000,00", 1000),
        ("１２３", 123),
        ("٣٫٥", 3.5),
        ("\u22125", -5),
        ("1\u202f000,5", 1000.5),
        ("1'000", 1000),
        ("1.000.000", 1_000_000),
    ],
)
def test_posted_number(posted: str, expected: float) -> None:
    number = one_field("number").parse_answer(WIDE, [posted])
    assert number == expected
    assert type(number) is type(expected)


PLAIN_DIGITS = "Enter a number in plain digits, like 5 or -3.25"


@pytest.mark.parametrize(
    ("posted", "sentence"),
    [
        *(
            (wrong, PLAIN_DIGITS)
            for wrong in ("nan", "1e5", "²", "Infinity", "5.", "--5", "1 00", "0x10", "1_0", "-")
        ),
        ("9" * 41, PLAIN_DIGITS),
        ("0." + "0" * 1_000_000, PLAIN_DIGITS),
        ("1,250", "This could be two numbers. Write 1250 or 1.25."),
        ("12345.123456789012345", "The number has too many digits"),
        ("9" * 40, "The number must be between -1000000 and 1000000"),
        ("", "Enter a number"),
        ("  ", "Enter a number"),
    ],
)
def test_posted_number_is_refused(posted: str, sentence: str) -> None:
    with pytest.raises(InvalidAnswer) as refused:
        one_field("number").parse_answer(WIDE, [posted])
    assert str(refused.value) == sentence


def test_posted_line_breaks_count_once() -> None:
    assert one_field("text").parse_answer({"max_length": 3}, ["a\r\nb"]) == "a\nb"


def test_posted_options_get_the_line_breaks_they_were_configured_with() -> None:
    config = {"options": ["a\nb", "c\r\nd"]}
    assert one_field("single_select").parse_answer(config, ["a\r\nb"]) == "a\nb"
    assert one_field("multi_select").parse_answer(config, ["c\nd", "a\r\nb"]) == [
        "a\nb",
        "c\r\nd",
    ]


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("text", "Write an answer"),
        ("single_select", "Choose one of the options"),
        ("multi_select", "Choose at least 1 option"),
        ("rating", "Choose a rating"),
        ("number", "Enter a number"),
    ],
)
def test_nothing_posted(kind: str, sentence: str) -> None:
    with pytest.raises(InvalidAnswer) as refused:
        get_response_type(kind).parse_form(CONFIGS[kind], {}, Page())
    assert str(refused.value) == sentence


@pytest.mark.parametrize("kind", ["text", "single_select", "rating", "number"])
def test_two_values_posted_where_one_is_asked(kind: str) -> None:
    with pytest.raises(InvalidAnswer, match=r"^Give one answer only$"):
        get_response_type(kind).parse_form(CONFIGS[kind], {"answer": ["a", "a"]}, Page())


def test_posted_choices_and_rating() -> None:
    assert one_field("multi_select").parse_answer({**SELECT, "required": False}, []) == []
    assert one_field("multi_select").parse_answer(SELECT, ["c", "a"]) == ["a", "c"]
    assert one_field("rating").parse_answer({"scale_max": 5, "scale_step": 0.5}, ["4.5"]) == 4.5
    with pytest.raises(InvalidAnswer, match=r"^Choose only from the options$"):
        one_field("multi_select").parse_answer(SELECT, ["a", "x"])
