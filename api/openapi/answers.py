"""OpenAPI schemas of the response types: their configuration, default and answer.

The parts that differ come from setting type (`reviews.response_types`), which also checks the rules
that a schema cannot express.
"""

from itertools import groupby
from typing import Any, Final

from api.openapi.operations import BOOLEAN, STRING, Schema, component, nullable, object_of, one_of
from api.serializers.requests import FeedbackFields, RequestDetail, RequestInput, RequestListed
from reviews.response_types import TYPES, ResponseType, list_names
from web.web_urls import MAX_URL_LENGTH

NUMBER: Final[Schema] = {"type": "number"}
STRINGS: Final[Schema] = {"type": "array", "items": STRING}


def build_config_schema(kind: ResponseType) -> Schema:
    """Builds the schema of a `response_config`. Unknown keys are allowed; null is ignored."""
    properties = {
        setting.name: setting.schema if setting.is_mandatory else nullable(setting.schema)
        for setting in kind.settings
    }
    properties["required"] = nullable({**BOOLEAN, "default": kind.required_by_default})
    mandatory = {setting.name for setting in kind.settings if setting.is_mandatory}
    schema = object_of(
        properties,
        optional=properties.keys() - mandatory,
        open_to_more=True,
        description=kind.description,
    )
    if kind.required_any_of:
        schema["anyOf"] = [{"required": [name]} for name in kind.required_any_of]
    return schema


def get_component_name(kind: ResponseType, suffix: str) -> str:
    """Returns the component of a type, such as MultiSelectConfig for multi_select."""
    return kind.name.title().replace("_", "") + suffix


def build_request_schema(kind: ResponseType) -> Schema:
    """Builds the schema of a new request with this response type."""
    return {
        "allOf": [
            component(RequestInput.__name__),
            {
                "type": "object",
                "properties": {
                    "response_type": {"const": kind.name},
                    "response_config": component(get_component_name(kind, "Config")),
                    "default_response": kind.default_schema,
                },
            },
        ]
    }


def describe_answers() -> str:
    """Describes `response_data` by type: 'A string for text and single_select, …'."""
    parts = []
    for noun, kinds in groupby(TYPES.values(), key=lambda kind: kind.answer_noun):
        parts.append(f"{noun} for {' and '.join(kind.name for kind in kinds)}")
    words = ", ".join(parts)
    return words[0].upper() + words[1:]


ANSWER: Final[Schema] = {
    "oneOf": [STRING, NUMBER, STRINGS, {"type": "null"}],
    "description": f"{describe_answers()}; null while there is no answer. After a timeout it is "
    "the default_response as it was sent.",
}
COMPONENTS: Final[dict[str, Any]] = {
    "Answer": ANSWER,
    **{get_component_name(kind, "Config"): build_config_schema(kind) for kind in TYPES.values()},
    **{get_component_name(kind, "Request"): build_request_schema(kind) for kind in TYPES.values()},
}
NEW_REQUEST: Final[Schema] = {
    "oneOf": [component(get_component_name(kind, "Request")) for kind in TYPES.values()],
}
# Schemas of fields that the serializers do not describe fully.
FIELDS: Final[dict[tuple[type, str], Schema]] = {
    (RequestInput, "image_url"): {
        "type": "string",
        "pattern": "^(https?://.+)?$",
        "maxLength": MAX_URL_LENGTH,
        "description": "Required when type is image.",
    },
    (RequestInput, "response_type"): one_of(list_names()),
    (RequestListed, "response_type"): one_of(list_names()),
    (RequestListed, "response_data"): component("Answer"),
    (RequestDetail, "context"): {"type": ["object", "null"]},
    (RequestDetail, "response_config"): {
        "anyOf": [component(get_component_name(kind, "Config")) for kind in TYPES.values()]
    },
    (RequestDetail, "default_response"): {"anyOf": [STRING, NUMBER, STRINGS]},
    (RequestDetail, "feedback"): nullable(component(FeedbackFields.__name__)),
}
