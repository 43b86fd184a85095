"""Any input is accepted or refused, never a crash; and what the forms offer is accepted."""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviews.response_types import (
    TYPES,
    Answer,
    InvalidAnswer,
    InvalidConfiguration,
    InvalidDefault,
    ResponseType,
)
from reviews.response_types.base import Page
from reviews.response_types.form import Form, get_posted_name
from reviews.response_types.multi_select import MultiSelect
from reviews.response_types.number import Number
from reviews.response_types.rating import Rating
from reviews.response_types.text import Text

FIELDS = [
    "options",
    "placeholder",
    "min_length",
    "max_length",
    "required",
    "min_selections",
    "max_selections",
    "scale_max",
    "scale_min",
    "scale_step",
    "max_value",
    "min_value",
    "decimal_places",
    "allow_negative",
    "min",
    "max",
    "tags",
]
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 12)
    | st.integers()
    | st.sampled_from([10**400, -(10**400), 5e-324, 1.7e308, 0.1, -0.0, 2.5])
    | st.floats()
    | st.text(max_size=4)
)
json_values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["value", "label"]) | st.text(max_size=2), inner)
    ),
    max_leaves=6,
)
plain_options = st.lists(st.text("ab \r\n", min_size=1, max_size=3), min_size=1, max_size=4)
configs = st.dictionaries(st.sampled_from(FIELDS), plain_options | json_values, max_size=6)
# A busy machine must not fail what is no question of time.
steady = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
types = st.sampled_from(list(TYPES.values()))


def verdict(call: Callable[..., Answer | None], *given_values: object) -> tuple[Any, str]:
    """What the call returns, and the sentence of its refusal ('' when there is none)."""
    try:
        return call(*given_values), ""
    except (InvalidConfiguration, InvalidDefault, InvalidAnswer) as fault:
        assert str(fault), "every refusal says why"  # noqa: PT017
        return None, str(fault)


@given(types, configs, json_values, st.lists(st.text(max_size=5), max_size=3))
@settings(steady, max_examples=400)
def test_every_input_gets_a_verdict(
    kind: ResponseType, config: dict[str, Any], value: object, posted: list[str]
) -> None:
    before = repr(config)
    if verdict(kind.check_configuration, config)[1]:
        return
    refusal = verdict(kind.check_default, config, value)[1]
    assert refusal == "" or refusal.startswith("default_response ")
    for answer, sentence in (
        verdict(kind.check_answer, config, value),
        verdict(kind.parse_form, config, {"answer": posted}, Page()),
    ):
        if not sentence:
            stored = json.loads(json.dumps(answer, allow_nan=False))
            assert kind.check_answer(config, stored) == answer
    assert repr(config) == before


hundredths = st.integers(-500, 500).map(lambda n: n / 100)


@given(st.integers(-5, 20), hundredths, st.integers(1, 300).map(lambda n: n / 100))
@steady
def test_every_offered_rating_is_accepted_and_nothing_between(
    maximum: int, minimum: float, step: float
) -> None:
    config = {"scale_max": maximum, "scale_min": minimum, "scale_step": step}
    if verdict(Rating().check_configuration, config)[1]:
        return
    bounds = Rating().read_bounds(config)
    steps = Rating().list_steps(config)
    assert Decimal(str(steps[-1])) + bounds.step > bounds.maximum
    for index, rating in enumerate(steps):
        assert Decimal(str(rating)) == bounds.minimum + index * bounds.step
        assert Rating().check_answer(config, rating) == rating
        assert Rating().parse_answer(config, [str(rating)]) == rating
    for rating in (steps[0] + 0.001, steps[0] - step, steps[-1] + step):
        assert verdict(Rating().check_answer, config, rating)[1]


@given(st.decimals(-1000, 1000, places=4), st.decimals(-1000, 1000, places=2), st.integers(0, 4))
@steady
def test_a_number_passes_just_when_it_lies_within_and_is_short_enough(
    value: Decimal, maximum: Decimal, digits: int
) -> None:
    config = {"max_value": float(maximum), "allow_negative": True, "decimal_places": digits}
    if maximum < 0:
        assert verdict(Number().check_configuration, config)[1].startswith("max_value ")
        return
    bounds = Number().read_bounds(config)
    assert (bounds.minimum, bounds.maximum) == (-maximum, maximum)
    number, sentence = verdict(Number().parse_answer, config, [str(value)])
    fits = -maximum <= value <= maximum and round(value, digits) == value
    assert fits == (sentence == "")
    if fits:
        assert Decimal(str(number)) == value
        assert Number().check_answer(config, number) == number


@given(st.permutations("abcdef"), st.integers(0, 6), st.integers(0, 6), st.integers(1, 6))
@steady
def test_choices_come_back_in_the_options_order(
    shuffled: list[str], taken: int, least: int, most: int
) -> None:
    config = {"options": list("abcdef"), "min_selections": least, "max_selections": most}
    chosen = shuffled[:taken]
    if least > most:
        return
    answer, sentence = verdict(MultiSelect().check_answer, config, chosen)
    assert (sentence == "") == (max(1, least) <= taken <= most)
    assert sentence or answer == sorted(chosen)


@given(st.text("a\r\n😀", max_size=12))
@steady
def test_text_counts_code_points_after_line_breaks_are_unified(text: str) -> None:
    unified = "\n".join(text.replace("\r\n", "\n").split("\r"))
    answer, sentence = verdict(Text().parse_answer, {"min_length": 3, "max_length": 6}, [text])
    assert (sentence == "") == (3 <= len(unified) <= 6 and unified.strip() != "")
    assert sentence or answer == unified


LIKELY: list[Any] = [
    "string", "number", "integer", "boolean", "array", "object", "email", "uri", "date",
    "date-time", ["a"], ["a", "b"], {"enum": ["a", "b"]}, [{"const": "a", "title": "A"}], {},
]  # fmt: skip
KEYWORDS = [
    "title", "description", "default", "format", "minLength", "maxLength", "minimum", "maximum",
    "enum", "enumNames", "oneOf", "anyOf", "items", "minItems", "maxItems", "uniqueItems", "$ref",
]  # fmt: skip
likely = st.sampled_from(LIKELY) | json_values
parts = st.dictionaries(st.sampled_from(KEYWORDS), likely, max_size=4)
one = st.builds(lambda kind, rest: {"type": kind, **rest}, st.sampled_from(LIKELY), parts)
names = st.sampled_from(["a", "b", "größe", "a.b", "__proto__", ""])
schemas = st.fixed_dictionaries(
    {"type": st.just("object"), "properties": st.dictionaries(names, one | likely, max_size=3)},
    optional={"required": st.lists(names, max_size=2) | likely, "title": likely},
)
typed_values = st.lists(
    st.sampled_from(["", "a", "b", "5", "1,5", "true", "2026-03-29T02:30", "2026-12-31", "x@y.z"])
    | st.text(max_size=5),
    max_size=2,
)


@given(schemas, json_values, st.lists(typed_values, min_size=3, max_size=3))
@settings(steady, max_examples=400)
def test_every_schema_gets_a_verdict_and_its_page_works(
    schema: dict[str, Any], value: object, typed: list[list[str]]
) -> None:
    form, config, page = Form(), {"schema": schema}, Page(",")
    sentence = verdict(form.check_configuration, config)[1]
    if sentence:
        assert sentence.startswith("schema")
        return
    refusal = verdict(form.check_default, config, value)[1]
    assert refusal == "" or refusal.startswith("default_response")
    assert form.build_form(config, {}, page, {}).fields
    fields = form.read_fields(config)
    posted = dict(zip(map(get_posted_name, fields), typed, strict=False))
    assert form.build_form(config, posted, page, {}).fields
    form.format_typed(config, posted)
    answer, sentence = verdict(form.parse_form, config, posted, page)
    if not sentence:
        assert form.check_answer(config, json.loads(json.dumps(answer))) == answer
        assert form.format_answer(config, answer)
