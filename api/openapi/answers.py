"""Response types in the OpenAPI document: what a client may configure, and what it gets.

Each type says of itself what is particular to it (`reviews.response_types`), which also holds the
rules that a schema cannot say.
"""

from itertools import groupby
from typing import Any, Final

from api.openapi.operations import BOOLEAN, STRING, Schema, component, nullable, object_of, one_of
from api.serializers.requests import FeedbackFields, RequestDetail, RequestInput, RequestListed
from reviews.response_types import TYPES, ResponseType, list_names
from web.web_urls import MAX_URL_LENGTH

NUMBER: Final[Schema] = {"type": "number"}
STRINGS: Final[Schema] = {"type": "array", "items": STRING}


def configuration(kind: ResponseType) -> Schema:
    """A `response_config`. Unknown keys are kept; null counts as left out."""
    properties = {
        each.name: each.schema if each.is_mandatory else nullable(each.schema)
        for each in kind.settings
    }
    properties["required"] = nullable({**BOOLEAN, "default": kind.required_by_default})
    mandatory = {each.name for each in kind.settings if each.is_mandatory}
    schema = object_of(
        properties,
        optional=properties.keys() - mandatory,
        open_to_more=True,
        description=kind.description,
    )
    if kind.required_any_of:
        schema["anyOf"] = [{"required": [name]} for name in kind.required_any_of]
    return schema


def name_of(kind: ResponseType, suffix: str) -> str:
    """`multi_select` is a MultiSelect."""
    return kind.name.title().replace("_", "") + suffix


def request_of(kind: ResponseType) -> Schema:
    """A new request with this response type."""
    return {
        "allOf": [
            component(RequestInput.__name__),
            {
                "type": "object",
                "properties": {
                    "response_type": {"const": kind.name},
                    "response_config": component(name_of(kind, "Config")),
                    "default_response": kind.default_schema,
                },
            },
        ]
    }


def answers_in_words() -> str:
    """What `response_data` is for which type: 'A string for text and single_select, …'."""
    parts = []
    for noun, kinds in groupby(TYPES.values(), key=lambda kind: kind.answer_noun):
        parts.append(f"{noun} for {' and '.join(kind.name for kind in kinds)}")
    words = ", ".join(parts)
    return words[0].upper() + words[1:]


ANSWER: Final[Schema] = {
    "oneOf": [STRING, NUMBER, STRINGS, {"type": "null"}],
    "description": f"{answers_in_words()}; null while there is no answer. After a timeout it is "
    "the default_response as it was sent.",
}
COMPONENTS: Final[dict[str, Any]] = {
    "Answer": ANSWER,
    **{name_of(kind, "Config"): configuration(kind) for kind in TYPES.values()},
    **{name_of(kind, "Request"): request_of(kind) for kind in TYPES.values()},
}
NEW_REQUEST: Final[Schema] = {
    "oneOf": [component(name_of(kind, "Request")) for kind in TYPES.values()],
}
# What the serializers do not say of their fields.
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
        "anyOf": [component(name_of(kind, "Config")) for kind in TYPES.values()]
    },
    (RequestDetail, "default_response"): {"anyOf": [STRING, NUMBER, STRINGS]},
    (RequestDetail, "feedback"): nullable(component(FeedbackFields.__name__)),
}
