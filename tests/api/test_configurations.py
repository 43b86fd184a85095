"""POST /api/loops/{loopId}/requests: response_config and default_response."""

import json
from typing import Any

import pytest

from loops.models import Loop
from reviews.models import Request
from tests.api.bodies import TYPES, of_type, question
from tests.api.wire import Api, granted, refused, refused_at

pytestmark = pytest.mark.django_db

CREATED = "Request created and broadcasted successfully"
OBJECTS = [{"value": "yes", "label": "Yes"}, {"value": "no", "label": "No", "colour": "red"}]


@pytest.mark.contract(
    "config.single_select",
    "config.multi_select",
    "config.rating",
    "config.number",
    "config.text",
    "config.options",
    "config.aliases",
    "config.extra",
)
@pytest.mark.parametrize(
    ("response_type", "config", "default"),
    [
        ("text", {}, "x"),
        (
            "text",
            {"placeholder": "…", "min_length": 2, "max_length": 3, "required": True},
            "beyond the bounds",
        ),
        ("text", {"tone": {"of": "voice"}}, ""),
        ("single_select", {"options": OBJECTS, "required": True}, "no"),
        ("single_select", {"options": ["only"]}, "only"),
        ("single_select", {"options": [*OBJECTS, "plain"]}, "plain"),
        ("single_select", {"options": [" yes", "yes"]}, " yes"),
        ("single_select", {"options": [str(n) for n in range(100)]}, "99"),
        ("multi_select", {"options": OBJECTS, "min_selections": 1, "max_selections": 2}, "yes"),
        ("multi_select", {"options": OBJECTS, "required": False}, ["no", "yes"]),
        ("rating", {"scale_max": 5}, 3),
        ("rating", {"scale_max": 10, "scale_min": 0, "scale_step": 0.5, "required": True}, 99),
        ("rating", {"min": 2, "max": 4}, 2),
        ("number", {"max_value": 10}, 10.123456),
        (
            "number",
            {"max_value": 9, "min_value": -9, "decimal_places": 0, "allow_negative": True},
            -9,
        ),
        ("number", {"max": 10, "min": 5, "required": False}, 1e12),
    ],
)
def test_what_it_takes_it_echoes(
    api: Api, owner_key: str, loop: Loop, response_type: str, config: Any, default: Any
) -> None:
    body = question(response_type=response_type, response_config=config, default_response=default)
    response = api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", body)
    path = granted(response, CREATED, status=201)["polling_url"]
    shown = granted(api(owner_key).get(path), "Request retrieved successfully")["request"]
    assert shown["response_config"] == config
    assert shown["default_response"] == default
    assert type(shown["default_response"]) is type(default)


@pytest.mark.contract("config.no_options", "create.bad_config")
@pytest.mark.parametrize("response_type", ["single_select", "multi_select"])
@pytest.mark.parametrize("config", [{}, {"options": None}, {"options": []}, {"options": "yes"}])
def test_options_are_required(
    api: Api, owner_key: str, loop: Loop, response_type: str, config: Any
) -> None:
    body = question(response_type=response_type, response_config=config)
    response = api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", body)
    refused(
        response,
        400,
        "Invalid response configuration",
        "options array required for select response type",
    )
    assert not Request.objects.exists()


@pytest.mark.contract("create.bad_config", "config.options", "config.rating", "config.number")
@pytest.mark.parametrize(
    ("response_type", "config", "field"),
    [
        ("single_select", {"options": [str(n) for n in range(101)]}, "options"),
        ("single_select", {"options": ["yes", "yes"]}, "options"),
        ("single_select", {"options": ["yes", {"value": "yes", "label": "Y"}]}, "options"),
        ("single_select", {"options": [5]}, "options"),
        ("single_select", {"options": [{"value": "yes"}]}, "options"),
        ("single_select", {"options": [{"label": "Yes"}]}, "options"),
        ("single_select", {"options": [{"value": 5, "label": "Five"}]}, "options"),
        ("single_select", {"options": [None]}, "options"),
        ("single_select", {"options": ["yes", "no"], "required": "yes"}, "required"),
        ("multi_select", {"options": ["a"], "min_selections": "1"}, "min_selections"),
        ("multi_select", {"options": ["a"], "min_selections": -1}, "min_selections"),
        ("multi_select", {"options": ["a"], "max_selections": True}, "max_selections"),
        ("multi_select", {"options": ["a"], "min_selections": 2}, "min_selections"),
        (
            "multi_select",
            {"options": ["a", "b"], "min_selections": 2, "max_selections": 1},
            "selections",
        ),
        ("rating", {}, "scale_max"),
        ("rating", {"scale_max": None}, "scale_max"),
        ("rating", {"scale_max": "5"}, "scale_max"),
        ("rating", {"scale_max": True}, "scale_max"),
        ("rating", {"scale_max": 1, "scale_min": 2}, "scale_m"),
        ("rating", {"scale_max": 5, "scale_step": 0}, "scale_step"),
        ("rating", {"scale_max": 5, "scale_step": -1}, "scale_step"),
        ("rating", {"scale_max": 5, "scale_step": "1"}, "scale_step"),
        ("rating", {"scale_max": 5, "required": 1}, "required"),
        ("number", {}, "max_value"),
        ("number", {"max_value": "10"}, "max_value"),
        ("number", {"max_value": True}, "max_value"),
        ("number", {"max_value": 1, "min_value": 2}, "value"),
        ("number", {"max_value": 9, "decimal_places": -1}, "decimal_places"),
        ("number", {"max_value": 9, "decimal_places": 1.5}, "decimal_places"),
        ("number", {"max_value": 9, "allow_negative": "no"}, "allow_negative"),
        ("text", {"placeholder": 5}, "placeholder"),
        ("text", {"min_length": -1}, "min_length"),
        ("text", {"min_length": "1"}, "min_length"),
        ("text", {"max_length": 1.5}, "max_length"),
        ("text", {"min_length": 5, "max_length": 4}, "_length"),
        ("text", {"required": "no"}, "required"),
    ],
)
def test_broken_configurations(
    api: Api, owner_key: str, loop: Loop, response_type: str, config: Any, field: str
) -> None:
    body = question(
        response_type=response_type,
        response_config=config,
        default_response=TYPES[response_type]["default_response"],
    )
    response = api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", body)
    refused_at(response, "Invalid response configuration", field)
    assert not Request.objects.exists()


@pytest.mark.contract("create.bad_default", "default.select")
@pytest.mark.parametrize(
    ("response_type", "default"),
    [
        ("single_select", "maybe"),
        ("single_select", " yes"),
        ("single_select", "Yes"),
        ("single_select", ""),
        ("single_select", None),
        ("multi_select", None),
        ("multi_select", "purple"),
        ("multi_select", ["red", "purple"]),
    ],
)
def test_a_default_that_matches_nothing(
    api: Api, owner_key: str, loop: Loop, response_type: str, default: Any
) -> None:
    body = {**of_type(response_type), "default_response": default}
    response = api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", body)
    refused(
        response,
        400,
        "Invalid default response",
        "default_response must match one of the configured options",
    )
    assert not Request.objects.exists()


@pytest.mark.contract("create.bad_default", "default.type")
@pytest.mark.parametrize(
    ("response_type", "default"),
    [
        ("text", None),
        ("text", 5),
        ("text", ["x"]),
        ("text", {}),
        ("text", False),
        ("single_select", 5),
        ("single_select", ["yes"]),
        ("single_select", True),
        ("multi_select", 5),
        ("multi_select", [5]),
        ("multi_select", {}),
        ("rating", "3"),
        ("rating", True),
        ("rating", [3]),
        ("number", "3"),
        ("number", False),
        ("number", {}),
    ],
)
def test_a_default_of_another_type(
    api: Api, owner_key: str, loop: Loop, response_type: str, default: Any
) -> None:
    body = {**of_type(response_type), "default_response": default}
    response = api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", body)
    refused_at(response, "Invalid default response", "default_response")


@pytest.mark.contract("default.unbounded", "default.select")
@pytest.mark.parametrize(
    ("response_type", "default"),
    [
        ("rating", -7.25),
        ("number", 1e15),
        ("number", 0),
        ("text", ""),
        ("multi_select", "blue"),
        ("multi_select", ["blue", "red"]),
    ],
)
def test_defaults_beyond_the_bounds(
    api: Api, owner_key: str, loop: Loop, response_type: str, default: Any
) -> None:
    body = {**of_type(response_type), "default_response": default}
    response = api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", body)
    path = granted(response, CREATED, status=201)["polling_url"]
    shown = granted(api(owner_key).get(path), "Request retrieved successfully")["request"]
    assert shown["default_response"] == default


SCHEMA = of_type("form")["response_config"]["schema"]


@pytest.mark.contract("config.form", "default.form")
@pytest.mark.parametrize(
    "default", [{}, {"amount": 99}, {"note": ""}, {"amount": 0.5, "note": "x"}]
)
def test_a_form_is_echoed_as_sent(api: Api, owner_key: str, loop: Loop, default: Any) -> None:
    body = {**of_type("form", tags=["unknown"]), "default_response": default}
    response = api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", body)
    path = granted(response, CREATED, status=201)["polling_url"]
    shown = granted(api(owner_key).get(path), "Request retrieved successfully")["request"]
    assert shown["response_config"] == {"schema": SCHEMA, "tags": ["unknown"]}
    assert list(shown["response_config"]["schema"]["properties"]) == ["amount", "note"]
    assert shown["default_response"] == default


@pytest.mark.contract("config.form_faults", "create.bad_config")
@pytest.mark.parametrize(
    ("config", "detail"),
    [
        ({}, "schema is required"),
        ({"schema": "{}"}, "schema must be an object"),
        (
            {"schema": {"type": "object", "properties": {"a": {"$ref": "#"}}}},
            "schema.properties.a.type must be one of: string, number, integer, boolean, array",
        ),
        (
            {
                "schema": {
                    "type": "object",
                    "properties": {"a": {"type": "string", "pattern": "(a+)+$"}},
                }
            },
            "schema.properties.a.pattern is not supported. schema.properties.a may have: type, "
            "title, description, default, format, minLength, maxLength, enum, enumNames, oneOf, "
            "anyOf",
        ),
        (
            {"schema": {**SCHEMA, "properties": {"__proto__": {"type": "string"}}}},
            "schema.properties must not have the name __proto__",
        ),
        (
            {
                "schema": {
                    "type": "object",
                    "properties": {"a": {"type": "number", "default": "5"}},
                }
            },
            "schema.properties.a.default must be a number",
        ),
        (
            {
                "schema": {
                    "type": "object",
                    "properties": {"a": {"type": "number", "maximum": 1, "default": 5}},
                }
            },
            "schema.properties.a.default must be at most 1",
        ),
        (
            {"schema": {**SCHEMA, "required": ["b"]}},
            "schema.required[0] must name a field of properties",
        ),
        ({"schema": SCHEMA, "required": "yes"}, "required must be a boolean"),
    ],
)
def test_a_schema_is_refused_by_path(
    api: Api, owner_key: str, loop: Loop, config: Any, detail: str
) -> None:
    body = {**of_type("form"), "response_config": config}
    response = api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", body)
    refused(response, 400, "Invalid response configuration", detail)
    assert not Request.objects.exists()


@pytest.mark.contract("default.form", "create.bad_default")
@pytest.mark.parametrize(
    ("default", "detail"),
    [
        ("{}", "default_response must be an object"),
        ([], "default_response must be an object"),
        ({"amount": "5"}, "default_response.amount must be a number"),
        ({"amount": True}, "default_response.amount must be a number"),
        ({"amount": 2**53}, "default_response.amount must be at most 9007199254740991"),
        ({"note": 5}, "default_response.note must be a string"),
        ({"other": 5}, "default_response.other is no field of the schema"),
    ],
)
def test_a_default_that_is_no_answer_of_the_form(
    api: Api, owner_key: str, loop: Loop, default: Any, detail: str
) -> None:
    body = {**of_type("form"), "default_response": default}
    response = api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", body)
    refused(response, 400, "Invalid default response", detail)
    assert not Request.objects.exists()


@pytest.mark.contract("config.form")
@pytest.mark.parametrize("raw", ['"\\u0000"', '"\\ud800"'])
def test_a_schema_that_cannot_be_stored(api: Api, owner_key: str, loop: Loop, raw: str) -> None:
    """NUL and lone surrogates are refused before the schema is read, with their path."""
    body = json.dumps(of_type("form")).replace('"number"', raw, 1)
    response = api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", body.encode())
    detail = "response_config.schema.properties.amount.type must not contain"
    refused_at(response, "Invalid request body", detail)


@pytest.mark.contract("config.form")
def test_of_two_fields_of_one_name_the_last_counts(api: Api, owner_key: str, loop: Loop) -> None:
    """As everywhere in a body: JSON leaves it open, and one field is on the page."""
    body = json.dumps(of_type("form")).replace(
        '"note": {', '"amount": {"type": "number"}, "note": {'
    )
    created = api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", body.encode())
    path = granted(created, CREATED, status=201)["polling_url"]
    shown = granted(api(owner_key).get(path), "Request retrieved successfully")["request"]
    assert shown["response_config"]["schema"]["properties"]["amount"] == {"type": "number"}
