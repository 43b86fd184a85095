"""The flat JSON Schema of a form: what it takes, what it refuses and with which path."""

from typing import Any

import pytest

from reviews.response_types import InvalidConfiguration, get_response_type
from reviews.response_types.flat_schema import read_fields
from reviews.response_types.flat_values import check_value
from reviews.response_types.options import Option
from tests.cpu import limited_cpu


def build(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_it_reads_the_fields_in_their_order() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "title": "Refund",
        "additionalProperties": False,
        "properties": {
            "größe": {"type": "integer", "minimum": 1, "maximum": 5.0, "title": "Size"},
            "mail": {"type": "string", "format": "email", "description": "Where to"},
            "reason": {"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]},
            "tags": {
                "type": "array",
                "items": {"anyOf": [{"const": "x", "title": "X"}, {"const": "y"}]},
                "minItems": 1,
            },
            "sure": {"type": "boolean", "default": True, "title": " "},
        },
        "required": ["reason", "größe"],
    }
    size, mail, reason, tags, sure = read_fields(schema, path="schema")
    assert (size.title, size.kind, size.least, size.most) == ("Size", "integer", 1, 5)
    assert (size.is_required, mail.is_required, reason.is_required) == (True, False, True)
    assert (mail.title, mail.format, mail.description) == ("mail", "email", "Where to")
    assert reason.options == (Option("a", "A"), Option("b", "B"))
    assert (tags.kind, tags.least, tags.most) == ("choices", 1, None)
    assert tags.options == (Option("x", "X"), Option("y", "y"))
    assert (sure.kind, sure.default, sure.title) == ("boolean", True, "sure")


def test_thirty_fields_with_a_hundred_options_fit() -> None:
    options = {"type": "string", "enum": [str(n) for n in range(100)]}
    assert len(read_fields(build(**{f"f{n}": options for n in range(30)}), path="schema")) == 30


STRING = {"type": "string"}
REFUSED: list[tuple[Any, str]] = [
    (None, "schema is required"),
    ([], "schema must be an object"),
    ({}, "schema.type must be object"),
    ({"type": "array"}, "schema.type must be object"),
    ({"type": "object"}, "schema.properties is required"),
    ({"type": "object", "properties": []}, "schema.properties must be an object"),
    (build(), "schema.properties must have between 1 and 30 fields"),
    (
        build(**{f"f{n}": STRING for n in range(31)}),
        "schema.properties must have between 1 and 30 fields",
    ),
    (
        {**build(a=STRING), "$ref": "#/$defs/a"},
        "schema.$ref is not supported. schema may have: $schema, type, title, description, "
        "properties, required, additionalProperties",
    ),
    (
        {**build(a=STRING), "additionalProperties": True},
        "schema.additionalProperties must be false",
    ),
    ({**build(a=STRING), "required": ["b"]}, "schema.required[0] must name a field of properties"),
    ({**build(a=STRING), "required": [5]}, "schema.required[0] must name a field of properties"),
    ({**build(a=STRING), "required": ["a", "a"]}, "schema.required[1] must be unique"),
    ({**build(a=STRING), "required": "a"}, "schema.required must be an array"),
    (build(a=True), "schema.properties.a must be an object"),
    (
        build(a={"$ref": "#/$defs/a"}),
        "schema.properties.a.type must be one of: string, number, integer, boolean, array",
    ),
    (
        build(a={**STRING, "$ref": "#"}),
        "schema.properties.a.$ref is not supported. schema.properties.a may have: type, title, "
        "description, default, format, minLength, maxLength, enum, enumNames, oneOf, anyOf",
    ),
    (
        build(a={"type": "object", "properties": {"b": STRING}}),
        "schema.properties.a.type must be one of: string, number, integer, boolean, array",
    ),
    (
        build(a={"type": ["string", "null"]}),
        "schema.properties.a.type must be one of: string, number, integer, boolean, array",
    ),
    (
        build(a={**STRING, "pattern": "(a+)+$"}),
        "schema.properties.a.pattern is not supported. schema.properties.a may have: type, "
        "title, description, default, format, minLength, maxLength, enum, enumNames, oneOf, anyOf",
    ),
    (
        build(a={"type": "integer", "multipleOf": 2}),
        "schema.properties.a.multipleOf is not supported. schema.properties.a may have: type, "
        "title, description, default, minimum, maximum",
    ),
    (
        build(a={"type": "array", "items": {"type": "object", "properties": {}}}),
        "schema.properties.a.items.properties is not supported. schema.properties.a.items may "
        "have: type, enum, enumNames, oneOf, anyOf",
    ),
    (build(a={"type": "array"}), "schema.properties.a.items is required"),
    (build(a={"type": "array", "items": STRING}), "schema.properties.a.items.enum is required"),
    (
        build(a={"type": "array", "items": {"type": "integer", "enum": [1]}}),
        "schema.properties.a.items.type must be string",
    ),
    (
        build(a={"type": "array", "items": {"enum": ["x"]}, "minItems": 2}),
        "schema.properties.a.minItems must be an integer between 0 and 1",
    ),
    (
        build(a={"type": "array", "items": {"enum": ["x", "y"]}, "minItems": 2, "maxItems": 1}),
        "schema.properties.a.minItems must not be greater than maxItems",
    ),
    (
        build(a={**STRING, "enum": [str(n) for n in range(10_000)]}),
        "schema.properties.a.enum must have between 1 and 100 entries",
    ),
    (
        build(a={**STRING, "enum": []}),
        "schema.properties.a.enum must have between 1 and 100 entries",
    ),
    (build(a={**STRING, "enum": ["x", 1]}), "schema.properties.a.enum[1] must be a string"),
    (build(a={**STRING, "enum": ["x", " "]}), "schema.properties.a.enum[1] is required"),
    (build(a={**STRING, "enum": ["x", "x"]}), "schema.properties.a.enum[1] must be unique"),
    (
        build(a={**STRING, "enum": ["x\r\ny", "x\ny"]}),
        "schema.properties.a.enum[1] must be unique",
    ),
    (
        build(a={**STRING, "enum": ["x"], "enumNames": []}),
        "schema.properties.a.enumNames must have as many entries as enum",
    ),
    (build(a={**STRING, "enumNames": ["X"]}), "schema.properties.a.enumNames needs enum"),
    (
        build(a={**STRING, "enum": ["x"], "oneOf": [{"const": "x"}]}),
        "schema.properties.a.oneOf must not be combined with enum",
    ),
    (
        build(a={**STRING, "enum": ["x"], "format": "email"}),
        "schema.properties.a.format must not be combined with options",
    ),
    (
        build(a={**STRING, "oneOf": [{"title": "X"}]}),
        "schema.properties.a.oneOf[0].const is required",
    ),
    (
        build(a={**STRING, "oneOf": [{"const": "x", "pattern": "x"}]}),
        "schema.properties.a.oneOf[0].pattern is not supported. schema.properties.a.oneOf[0] may "
        "have: const, title",
    ),
    (
        build(a={**STRING, "format": "ipv4"}),
        "schema.properties.a.format must be one of: email, uri, date, date-time",
    ),
    (
        build(a={**STRING, "minLength": 10_001}),
        "schema.properties.a.minLength must be an integer between 0 and 10000",
    ),
    (
        build(a={**STRING, "minLength": 5, "maxLength": 4}),
        "schema.properties.a.minLength must not be greater than maxLength",
    ),
    (
        build(a={"type": "number", "minimum": 2, "maximum": 1}),
        "schema.properties.a.minimum must not be greater than maximum",
    ),
    (
        build(a={"type": "number", "maximum": 2**53}),
        "schema.properties.a.maximum must be a number between -9007199254740991 and "
        "9007199254740991",
    ),
    (
        build(a={"type": "number", "minimum": True}),
        "schema.properties.a.minimum must be a number between -9007199254740991 and "
        "9007199254740991",
    ),
    (
        build(a={"type": "integer", "minimum": 1.2, "maximum": 1.8}),
        "schema.properties.a must leave an integer between minimum and maximum",
    ),
    (build(a={**STRING, "title": 5}), "schema.properties.a.title must be a string"),
    (
        build(a={**STRING, "title": "x" * 201}),
        "schema.properties.a.title must have at most 200 characters",
    ),
    *(
        (build(**{name: STRING}), f"schema.properties must not have the name {name}")
        for name in ("__proto__", "constructor", "prototype")
    ),
    *(
        (
            build(**{name: STRING}),
            f"schema.properties must have names of 1 to 64 letters, digits, _ and -, not {shown}",
        )
        for name, shown in (
            ("", '""'),
            ("a.b", '"a.b"'),
            ("a b", '"a b"'),
            ("a\nb", '"a\\nb"'),
            ("x" * 1000, f'"{"x" * 64}…"'),
        )
    ),
]


@pytest.mark.parametrize(("schema", "sentence"), REFUSED)
def test_it_refuses_by_path(schema: Any, sentence: str) -> None:
    with pytest.raises(InvalidConfiguration) as refused:
        read_fields(schema, path="schema")
    assert str(refused.value) == sentence


VALUES: list[tuple[dict[str, Any], Any, str | None]] = [
    (STRING, "x", None),
    (STRING, "", None),
    (STRING, 5, "a must be a string"),
    (STRING, None, "a must be a string"),
    (STRING, "x" * 10_001, "a must have at most 10000 characters"),
    (STRING, "a\0", "a contains a character that cannot be stored"),
    (STRING, "\ud800", "a contains a character that cannot be stored"),
    ({**STRING, "minLength": 2}, "😀", "a must have at least 2 characters"),
    ({**STRING, "maxLength": 1}, "😀", None),
    ({**STRING, "format": "email"}, "ada@example.com", None),
    ({**STRING, "format": "email"}, "ada@bücher.example", None),
    ({**STRING, "format": "email"}, "ada@", "a must be an email address"),
    ({**STRING, "format": "email"}, "a b@example.com", "a must be an email address"),
    ({**STRING, "format": "email"}, "ada@-x.example", "a must be an email address"),
    ({**STRING, "format": "uri"}, "https://example.com/a?b#c", None),
    ({**STRING, "format": "uri"}, "mailto:ada@example.com", None),
    (
        {**STRING, "format": "uri"},
        "example.com",
        "a must be a full URL, such as https://example.com",
    ),
    (
        {**STRING, "format": "uri"},
        "https://a b",
        "a must be a full URL, such as https://example.com",
    ),
    ({**STRING, "format": "uri"}, "http://[", "a must be a full URL, such as https://example.com"),
    ({**STRING, "format": "date"}, "2028-02-29", None),
    ({**STRING, "format": "date"}, "2027-02-29", "a must be a date such as 2026-12-31"),
    ({**STRING, "format": "date"}, "20270228", "a must be a date such as 2026-12-31"),
    ({**STRING, "format": "date-time"}, "2026-12-31T18:00:00.5+01:00", None),
    (
        {**STRING, "format": "date-time"},
        "2026-12-31T18:00:00",
        "a must be a date and time with its offset, such as 2026-12-31T18:00:00Z",
    ),
    (
        {**STRING, "format": "date-time"},
        "2026-12-31T25:00:00Z",
        "a must be a date and time with its offset, such as 2026-12-31T18:00:00Z",
    ),
    ({"type": "number", "maximum": 10}, 10, None),
    ({"type": "number", "maximum": 10}, 10.5, "a must be at most 10"),
    ({"type": "number", "minimum": 0.1}, 0, "a must be at least 0.1"),
    ({"type": "number"}, "5", "a must be a number"),
    ({"type": "number"}, True, "a must be a number"),
    ({"type": "number"}, 2**53, "a must be at most 9007199254740991"),
    ({"type": "number"}, -(2**53), "a must be at least -9007199254740991"),
    ({"type": "integer"}, 5.0, None),
    ({"type": "integer"}, 5.5, "a must be an integer"),
    ({"type": "boolean"}, False, None),
    ({"type": "boolean"}, 1, "a must be a boolean"),
    ({"type": "boolean"}, "true", "a must be a boolean"),
    ({**STRING, "enum": ["x"]}, "x", None),
    ({**STRING, "enum": ["x"]}, "X", "a must be one of the options"),
    ({"type": "array", "items": {"enum": ["x", "y"]}}, ["y", "x"], None),
    ({"type": "array", "items": {"enum": ["x", "y"]}}, [], None),
    ({"type": "array", "items": {"enum": ["x"]}}, "x", "a must be an array of options"),
    (
        {"type": "array", "items": {"enum": ["x"]}},
        ["z"],
        "a must only have values of the options",
    ),
    (
        {"type": "array", "items": {"enum": ["x", "y"]}},
        ["x", "x"],
        "a must not contain an option twice",
    ),
    (
        {"type": "array", "items": {"enum": ["x", "y"]}, "minItems": 1},
        [],
        "a must have at least 1 option",
    ),
    (
        {"type": "array", "items": {"enum": ["x", "y"]}, "maxItems": 1},
        ["x", "y"],
        "a must have at most 1 option",
    ),
]


@pytest.mark.parametrize(("schema", "value", "sentence"), VALUES)
def test_a_value_keeps_its_type(schema: dict[str, Any], value: Any, sentence: str | None) -> None:
    assert check_value(schema, value, path="a") == sentence


HOSTILE = [
    *("a@" * 131_072, "a." * 131_072, "http:" + "/" * 262_144, "2026-" * 52_000, "-@" * 131_072),
    [{"": n} for n in range(22_000)],
    ["x"] * 60_000,
    [*(str(n) for n in range(30_000)), "x"],
]


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_value_takes_no_time(value: Any) -> None:
    """256 KiB of what expressions and comparisons might stumble over."""
    schemas: list[Any] = [
        {**STRING, "format": name} for name in ("email", "uri", "date", "date-time")
    ]
    with limited_cpu(1.0, str(value)[:20]):
        for schema in [*schemas, {"type": "array", "items": {"enum": ["x", "y"]}}]:
            assert check_value(schema, value, path="a")


ALIKE = [{"const": "delete", "title": "Keep"}, {"const": "keep", "title": " Keep"}]


@pytest.mark.parametrize(
    ("field", "place"),
    [
        ({**STRING, "enum": ["delete", "keep"], "enumNames": ["Keep", "Keep"]}, "enumNames[1]"),
        ({**STRING, "enum": ["Keep it", "Keep  it"]}, "enum[1]"),
        ({**STRING, "oneOf": ALIKE}, "oneOf[1]"),
        ({"type": "array", "items": {"anyOf": ALIKE}}, "items.anyOf[1]"),
    ],
)
def test_options_that_read_alike_are_refused(field: dict[str, Any], place: str) -> None:
    """An older question with such options can still be read."""
    schema = build(a=field)
    proposal = {"name": "x", "arguments": {}, "schema": schema}
    for kind, config, path in (
        ("form", {"schema": schema}, "schema"),
        ("approval", {"proposal": proposal}, "proposal.schema"),
    ):
        with pytest.raises(InvalidConfiguration) as refused:
            get_response_type(kind).check_configuration(config)
        assert str(refused.value) == f"{path}.properties.a.{place} must be unique"
    assert read_fields(schema, path="schema")
