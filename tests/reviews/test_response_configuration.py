"""Configurations: what a client may ask for, field by field."""

from decimal import Decimal
from typing import Any

import pytest

from reviews.response_types import TYPES, InvalidConfiguration
from reviews.response_types.multi_select import MultiBounds, MultiSelect
from reviews.response_types.number import Number, NumberBounds
from reviews.response_types.options import Option, read_options
from reviews.response_types.rating import Rating, RatingBounds
from reviews.response_types.text import Text, TextBounds

TWO = ["yes", "no"]
NO_OPTIONS = "options array required for select response type"


@pytest.mark.parametrize(
    ("response_type", "config"),
    [
        ("text", {}),
        ("text", {"placeholder": "", "min_length": 0, "max_length": 10000, "required": False}),
        ("text", {"min_length": 60.0, "max_length": 60, "tags": ["unknown", "keys", "stay"]}),
        ("text", {"placeholder": None, "min_length": None, "max_length": None, "required": None}),
        ("text", {"options": 5, "scale_max": "other types' fields"}),
        ("single_select", {"options": ["only"], "required": True}),
        ("single_select", {"options": [{"value": "a", "label": "A", "colour": "red"}, "b"]}),
        ("single_select", {"options": [" yes", "yes"]}),
        ("multi_select", {"options": TWO, "min_selections": 0, "max_selections": 2}),
        ("multi_select", {"options": [str(n) for n in range(100)], "min_selections": 100}),
        ("rating", {"scale_max": 5}),
        ("rating", {"max": 10, "min": 0}),
        ("rating", {"scale_max": 5.0, "scale_min": 0.5, "scale_step": 0.5, "required": False}),
        ("rating", {"scale_max": 1000, "scale_min": 0}),
        ("number", {"max_value": 100}),
        ("number", {"max_value": 1}),
        ("number", {"max_value": 1e300, "allow_negative": True}),
        ("number", {"max_value": 0.9, "min_value": 0.001}),
        ("number", {"max": 5, "min": -5, "allow_negative": True, "decimal_places": 10}),
    ],
)
def test_accepts(response_type: str, config: dict[str, Any]) -> None:
    TYPES[response_type].check_configuration(config)


SELECT_FAULTS = [
    ({}, NO_OPTIONS),
    ({"options": None}, NO_OPTIONS),
    ({"options": []}, NO_OPTIONS),
    ({"options": "yes"}, NO_OPTIONS),
    ({"options": {"value": "a", "label": "A"}}, NO_OPTIONS),
    ({"options": [str(n) for n in range(101)]}, "options must have between 1 and 100 entries"),
    ({"options": ["a", 5]}, "options[1] must be a string or an object with value and label"),
    ({"options": [None]}, "options[0] must be a string or an object with value and label"),
    ({"options": ["a", ""]}, "options[1] is required"),
    ({"options": [{"label": "A"}]}, "options[0].value is required"),
    ({"options": [{"value": " ", "label": "A"}]}, "options[0].value is required"),
    ({"options": [{"value": 1, "label": "A"}]}, "options[0].value must be a string"),
    ({"options": [{"value": "a"}]}, "options[0].label is required"),
    ({"options": [{"value": "a", "label": True}]}, "options[0].label must be a string"),
    ({"options": ["a", "b", {"value": "a", "label": "B"}]}, "options[2].value must be unique"),
    ({"options": ["a\nb", "a\r\nb"]}, "options[1].value must be unique"),
    ({"options": TWO, "required": "yes"}, "required must be a boolean"),
    ({"options": TWO, "required": 1}, "required must be a boolean"),
]


@pytest.mark.parametrize("response_type", ["single_select", "multi_select"])
@pytest.mark.parametrize(("config", "detail"), SELECT_FAULTS)
def test_refuses_broken_selects(response_type: str, config: dict[str, Any], detail: str) -> None:
    with pytest.raises(InvalidConfiguration) as refused:
        TYPES[response_type].check_configuration(config)
    assert str(refused.value) == detail


@pytest.mark.parametrize(
    ("field", "value", "detail"),
    [
        ("min_selections", "1", "min_selections must be an integer between 0 and 2"),
        ("min_selections", True, "min_selections must be an integer between 0 and 2"),
        ("min_selections", 1.5, "min_selections must be an integer between 0 and 2"),
        ("min_selections", 3, "min_selections must be an integer between 0 and 2"),
        ("min_selections", -1, "min_selections must be an integer between 0 and 2"),
        ("max_selections", 0, "max_selections must be an integer between 1 and 2"),
        ("max_selections", 3, "max_selections must be an integer between 1 and 2"),
        ("max_selections", 1, "min_selections must not be greater than max_selections"),
    ],
)
def test_refuses_broken_selections(field: str, value: object, detail: str) -> None:
    with pytest.raises(InvalidConfiguration) as refused:
        MultiSelect().check_configuration({"options": TWO, "min_selections": 2, field: value})
    assert str(refused.value) == detail


RATING_FAULTS: list[tuple[dict[str, Any], str]] = [
    ({}, "scale_max is required"),
    ({"scale_max": None}, "scale_max is required"),
    ({"scale_max": "5"}, "scale_max must be an integer between -1000000 and 1000000"),
    ({"scale_max": True}, "scale_max must be an integer between -1000000 and 1000000"),
    ({"scale_max": 4.5}, "scale_max must be an integer between -1000000 and 1000000"),
    ({"scale_max": 10**400}, "scale_max must be an integer between -1000000 and 1000000"),
    ({"max": "5"}, "max must be an integer between -1000000 and 1000000"),
    ({"scale_max": 1}, "scale_min (1) must be less than scale_max (1)"),
    ({"scale_max": 5, "min": 5.0}, "scale_min (5) must be less than scale_max (5)"),
    ({"scale_max": 5, "scale_min": "1"}, "scale_min must be a number"),
    ({"scale_max": 5, "scale_min": 0.00001}, "scale_min must have at most 4 decimal places"),
    ({"scale_max": 5, "scale_min": -1e300}, "scale_min must be at least -1000000"),
    ({"scale_max": 5, "scale_step": False}, "scale_step must be a number"),
    ({"scale_max": 5, "scale_step": float("nan")}, "scale_step must be a number"),
    ({"scale_max": 5, "scale_step": 0}, "scale_step must be greater than 0"),
    ({"scale_max": 5, "scale_step": -1}, "scale_step must be greater than 0"),
    ({"scale_max": 5, "scale_step": 5e-324}, "scale_step must have at most 4 decimal places"),
    (
        {"scale_max": 5, "scale_step": 4.5},
        "scale_step must not be greater than scale_max - scale_min",
    ),
    (
        {"scale_max": 1001, "scale_min": 0},
        "scale_step must make at most 1000 steps from scale_min to scale_max",
    ),
    ({"scale_max": 5, "required": "false"}, "required must be a boolean"),
]
NUMBER_FAULTS: list[tuple[dict[str, Any], str]] = [
    ({}, "max_value is required"),
    ({"max_value": "5"}, "max_value must be a number"),
    ({"max_value": True}, "max_value must be a number"),
    ({"max_value": float("inf")}, "max_value must be a number"),
    ({"max_value": 10**400}, "max_value must be a number"),
    ({"max": []}, "max must be a number"),
    ({"max_value": 0.5}, "max_value must not be less than min_value (1)"),
    ({"max_value": 5, "min_value": 6}, "max_value must not be less than min_value (6)"),
    ({"max_value": -5, "allow_negative": True}, "max_value must not be less than min_value (5)"),
    (
        {"max_value": 5, "min_value": -5},
        "min_value must not be negative unless allow_negative is true",
    ),
    ({"max_value": 5, "min_value": {}}, "min_value must be a number"),
    ({"max_value": 5, "decimal_places": 11}, "decimal_places must be an integer between 0 and 10"),
    ({"max_value": 5, "decimal_places": 0.5}, "decimal_places must be an integer between 0 and 10"),
    ({"max_value": 5, "allow_negative": 1}, "allow_negative must be a boolean"),
    ({"max_value": 5, "required": 0}, "required must be a boolean"),
    (
        {"max_value": 0.9, "min_value": 0.1, "decimal_places": 0},
        "decimal_places must leave a number between min_value and max_value",
    ),
]
TEXT_FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"placeholder": 5}, "placeholder must be a string"),
    ({"min_length": -1}, "min_length must be an integer between 0 and 10000"),
    ({"min_length": "5"}, "min_length must be an integer between 0 and 10000"),
    ({"max_length": 0}, "max_length must be an integer between 1 and 10000"),
    ({"max_length": 10001}, "max_length must be an integer between 1 and 10000"),
    ({"min_length": 6, "max_length": 5}, "min_length must not be greater than max_length"),
    ({"required": "no"}, "required must be a boolean"),
]


@pytest.mark.parametrize(
    ("response_type", "config", "detail"),
    [("rating", *fault) for fault in RATING_FAULTS]
    + [("number", *fault) for fault in NUMBER_FAULTS]
    + [("text", *fault) for fault in TEXT_FAULTS],
)
def test_refuses(response_type: str, config: dict[str, Any], detail: str) -> None:
    with pytest.raises(InvalidConfiguration) as refused:
        TYPES[response_type].check_configuration(config)
    assert str(refused.value) == detail


def test_the_first_fault_in_the_order_of_the_table_is_told() -> None:
    with pytest.raises(InvalidConfiguration, match="scale_min must be a number"):
        Rating().check_configuration({"scale_step": "", "scale_min": "", "scale_max": 5})


def test_canonical_names_win_over_aliases() -> None:
    config = {"scale_max": 5, "max": 9, "scale_min": 2, "min": "ignored"}
    assert Rating().read_bounds(config) == RatingBounds(Decimal(2), Decimal(5), Decimal(1))
    config = {"max_value": None, "max": 9, "min_value": 2, "min": 3}
    assert Number().read_bounds(config) == NumberBounds(Decimal(2), Decimal(9), 2)


def test_defaults() -> None:
    assert Text().read_bounds({}) == TextBounds(0, 10000, "", required=True)
    assert MultiSelect().read_bounds({"options": TWO}) == MultiBounds(1, 2, required=True)
    assert Rating().read_bounds({"scale_max": 5}) == RatingBounds(
        Decimal(1), Decimal(5), Decimal(1)
    )
    assert Number().read_bounds({"max_value": 5}) == NumberBounds(Decimal(1), Decimal(5), 2)
    unsigned = Number().read_bounds({"max_value": 7.5, "allow_negative": True})
    assert unsigned == NumberBounds(Decimal("-7.5"), Decimal("7.5"), 2)


def test_options_give_plain_strings_a_label() -> None:
    config = {"options": ["a", {"value": "b", "label": "Bee"}]}
    assert read_options(config) == [Option("a", "a"), Option("b", "Bee")]


def test_rating_steps_count_in_decimals() -> None:
    tenths = Rating().list_steps({"scale_max": 1, "scale_min": 0, "scale_step": 0.1})
    assert tenths == [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]
    assert [type(step) for step in tenths] == [int] + [float] * 9 + [int]
    assert Rating().list_steps({"scale_max": 10, "scale_step": 4}) == [1, 5, 9]
    assert len(Rating().list_steps({"scale_max": 1000, "scale_min": 0})) == 1001
