"""The five answer types: what a client may configure, and what it gets (specification,
Response configuration). `reviews.response_types` holds the rules that a schema cannot say."""

from typing import Any, Final

from api.openapi.operations import BOOLEAN, STRING, Schema, component, nullable, object_of
from api.serializers.requests import FeedbackFields, RequestDetail, RequestInput, RequestListed
from reviews.response_types.configuration import (
    MAX_DECIMAL_PLACES,
    MAX_OPTIONS,
    MAX_RATING,
    MAX_TEXT_LENGTH,
)
from web.web_urls import MAX_URL_LENGTH

NUMBER: Final[Schema] = {"type": "number"}
LABEL: Final[Schema] = {"type": "string", "minLength": 1, "pattern": r"\S"}
LENGTH: Final[Schema] = {"type": "integer", "minimum": 0, "maximum": MAX_TEXT_LENGTH}
SELECTIONS: Final[Schema] = {"type": "integer", "minimum": 0, "maximum": MAX_OPTIONS}


def configuration(description: str, needed: dict[str, Schema], **others: Schema) -> Schema:
    """A `response_config`. Unknown keys are kept; null counts as left out."""
    optional = {name: nullable(schema) for name, schema in others.items()}
    return object_of(
        {**needed, **optional}, optional=optional, open_to_more=True, description=description
    )


OPTIONS: Final[Schema] = {
    "type": "array",
    "minItems": 1,
    "maxItems": MAX_OPTIONS,
    "items": {
        "anyOf": [
            LABEL,
            object_of({"value": LABEL, "label": LABEL}, open_to_more=True),
        ]
    },
    "description": "Values are unique. A plain string is its own label.",
}
CONFIGURATIONS: Final[dict[str, Schema]] = {
    "text": configuration(
        "Free text.",
        {},
        placeholder=STRING,
        min_length=LENGTH,
        max_length={**LENGTH, "minimum": 1, "default": MAX_TEXT_LENGTH},
        required={**BOOLEAN, "default": True},
    ),
    "single_select": configuration(
        "One of the options.", {"options": OPTIONS}, required={**BOOLEAN, "default": True}
    ),
    "multi_select": configuration(
        "Several of the options.",
        {"options": OPTIONS},
        min_selections=SELECTIONS,
        max_selections={**SELECTIONS, "minimum": 1},
        required={**BOOLEAN, "default": True},
    ),
    "rating": configuration(
        "A step of a scale, counted from scale_min. `max` and `min` may stand for scale_max and "
        "scale_min.",
        {},
        scale_max={"type": "integer", "minimum": -MAX_RATING, "maximum": MAX_RATING},
        scale_min={**NUMBER, "default": 1},
        scale_step={**NUMBER, "exclusiveMinimum": 0, "default": 1},
        required={**BOOLEAN, "default": False},
    ),
    "number": configuration(
        "A number within bounds. `max` and `min` may stand for max_value and min_value. With "
        "allow_negative the default of min_value is −max_value.",
        {},
        max_value=NUMBER,
        min_value={**NUMBER, "default": 1},
        decimal_places={
            "type": "integer",
            "minimum": 0,
            "maximum": MAX_DECIMAL_PLACES,
            "default": 2,
        },
        allow_negative={**BOOLEAN, "default": False},
        required={**BOOLEAN, "default": False},
    ),
}
# Either name will do, and one of them is needed.
CONFIGURATIONS["rating"]["anyOf"] = [{"required": ["scale_max"]}, {"required": ["max"]}]
CONFIGURATIONS["number"]["anyOf"] = [{"required": ["max_value"]}, {"required": ["max"]}]
DEFAULTS: Final[dict[str, Schema]] = {
    "text": STRING,
    "single_select": {**STRING, "description": "The value of an option."},
    "multi_select": {
        "anyOf": [STRING, {"type": "array", "items": STRING, "minItems": 1, "uniqueItems": True}],
        "description": "The value of an option, or several in a list.",
    },
    "rating": NUMBER,
    "number": NUMBER,
}


def name_of(response_type: str, suffix: str) -> str:
    """`multi_select` is a MultiSelect."""
    return response_type.title().replace("_", "") + suffix


def request_of(response_type: str) -> Schema:
    """A new request with this answer type."""
    return {
        "allOf": [
            component(RequestInput.__name__),
            {
                "type": "object",
                "properties": {
                    "response_type": {"const": response_type},
                    "response_config": component(name_of(response_type, "Config")),
                    "default_response": DEFAULTS[response_type],
                },
            },
        ]
    }


ANSWER: Final[Schema] = {
    "oneOf": [STRING, NUMBER, {"type": "array", "items": STRING}, {"type": "null"}],
    "description": "A string for text and single_select, a list of option values for multi_select, "
    "a number for rating and number; null while there is no answer. After a timeout it is the "
    "default_response as it was sent.",
}
COMPONENTS: Final[dict[str, Any]] = {
    "Answer": ANSWER,
    **{
        name_of(response_type, suffix): schema
        for response_type in CONFIGURATIONS
        for suffix, schema in (
            ("Config", CONFIGURATIONS[response_type]),
            ("Request", request_of(response_type)),
        )
    },
}
NEW_REQUEST: Final[Schema] = {
    "oneOf": [component(name_of(response_type, "Request")) for response_type in CONFIGURATIONS],
}
# What the serializers do not say of their fields.
FIELDS: Final[dict[tuple[type, str], Schema]] = {
    (RequestInput, "image_url"): {
        "type": "string",
        "pattern": "^(https?://.+)?$",
        "maxLength": MAX_URL_LENGTH,
        "description": "Required when type is image.",
    },
    (RequestListed, "response_data"): component("Answer"),
    (RequestDetail, "context"): {"type": ["object", "null"]},
    (RequestDetail, "response_config"): {
        "anyOf": [component(name_of(response_type, "Config")) for response_type in CONFIGURATIONS]
    },
    (RequestDetail, "default_response"): {
        "anyOf": [STRING, NUMBER, {"type": "array", "items": STRING}]
    },
    (RequestDetail, "feedback"): nullable(component(FeedbackFields.__name__)),
}
