"""OpenAPI schemas of the response types: their configuration, default and answer.

The parts that differ come from each type (`reviews.response_types`), which also checks the rules
that a schema cannot express.

Client generators read these schemas. Each request schema is therefore complete, and avoids keywords
that generators read differently: `default`, and `allOf` with `const`.
"""

import json
from itertools import groupby
from typing import Any, Final

from api.openapi.operations import (
    ANY_CASE_ID,
    BOOLEAN,
    ID,
    STRING,
    Schema,
    component,
    nullable,
    object_of,
    one_of,
)
from api.serializers.requests import (
    FeedbackFields,
    RequestDetail,
    RequestInput,
    RequestListed,
)
from api.serializers.reviewing import AnswerInput
from reviews.lifecycle import states
from reviews.models import CONTENT_TYPES, PLATFORMS, PRIORITIES, PROCESSING_TYPES
from reviews.models.metadata import MAX_KEY, MAX_PAIRS, MAX_VALUE
from reviews.response_types import TYPES, ResponseType, list_names
from reviews.response_types.approval.names import ACTIONS
from reviews.response_types.base import Setting

NUMBER: Final[Schema] = {"type": "number"}
STRINGS: Final[Schema] = {"type": "array", "items": STRING}
OBJECT: Final[Schema] = {"type": "object", "additionalProperties": True}


def build_config_schema(kind: ResponseType) -> Schema:
    """Builds the schema of a `response_config`. Unknown keys are allowed; null is ignored."""
    properties = {setting.name: describe_setting(setting) for setting in kind.settings}
    properties["required"] = nullable(describe_default(BOOLEAN, kind.required_by_default))
    mandatory = {setting.name for setting in kind.settings if setting.is_mandatory}
    return object_of(
        properties,
        optional=properties.keys() - mandatory,
        open_to_more=True,
        description=kind.description,
    )


def describe_setting(setting: Setting) -> Schema:
    """Builds the schema of a setting, with its default in the description."""
    schema = {name: value for name, value in setting.schema.items() if name != "default"}
    if "default" in setting.schema:
        schema = describe_default(schema, setting.schema["default"])
    return schema if setting.is_mandatory else nullable(schema)


def describe_default(schema: Schema, default: object) -> Schema:
    """Describes the default in words: generators make a field with `default` mandatory."""
    sentences = [schema.get("description", ""), f"Default: {json.dumps(default)}."]
    return {**schema, "description": " ".join(filter(None, sentences))}


def get_component_name(kind: ResponseType, suffix: str) -> str:
    """Returns the component of a type, such as MultiSelectConfig for multi_select."""
    return kind.name.title().replace("_", "") + suffix


def add_request_schemas(schemas: dict[str, Schema]) -> None:
    """Replaces the schema of RequestInput by one for each response type and their union."""
    fields = schemas.pop(RequestInput.__name__)
    references = {kind.name: get_component_name(kind, "Request") for kind in TYPES.values()}
    for kind in TYPES.values():
        schemas[references[kind.name]] = build_request_schema(kind, fields)
    schemas[NEW_REQUEST] = {
        "oneOf": [component(name) for name in references.values()],
        "discriminator": {
            "propertyName": "response_type",
            "mapping": {name: component(each)["$ref"] for name, each in references.items()},
        },
        "description": "A new request. Its response_type decides on the shape of response_config "
        "and default_response.",
    }


def build_request_schema(kind: ResponseType, fields: Schema) -> Schema:
    """Builds the schema of a new request with this response type, from those of all types."""
    own = {
        "response_type": {"type": "string", "const": kind.name},
        "response_config": component(get_component_name(kind, "Config")),
        "default_response": {**fields["properties"]["default_response"], **kind.default_schema},
    }
    return {
        **fields,
        "properties": {**fields["properties"], **own},
        "description": f"A new request with the response type {kind.name}.",
    }


def describe_answers() -> str:
    """Describes `response_data` by type: 'A string for text and single_select, …'."""
    parts = []
    for noun, kinds in groupby(TYPES.values(), key=lambda kind: kind.answer_noun):
        parts.append(f"{noun} for {' and '.join(kind.name for kind in kinds)}")
    words = ", ".join(parts)
    return words[0].upper() + words[1:]


DECISION: Final[Schema] = {
    "type": "object",
    "properties": {
        "action": one_of(ACTIONS),
        "arguments": {
            **OBJECT,
            "description": "Exactly what may run, complete. Only with approve and edit.",
        },
        "edited": {
            **STRINGS,
            "description": "The arguments that a person changed. Only with approve and edit.",
        },
        "message": {
            "type": "string",
            "description": "A reply, or the reason of a rejection. Missing if there is none.",
        },
    },
    "required": ["action"],
    "additionalProperties": False,
    "description": "The answer of an approval.",
}
ANSWER: Final[Schema] = {
    "anyOf": [STRING, NUMBER, STRINGS, component("Decision"), OBJECT, {"type": "null"}],
    "description": f"{describe_answers()}; null while there is no answer. After a timeout it is "
    "the default_response as it was sent.",
}
# Shared components: generators make one class of each.
PROCESSING_TYPE: Final = component("ProcessingType")
CONTENT_TYPE: Final = component("ContentType")
PRIORITY: Final = component("Priority")
PLATFORM: Final = component("Platform")
STATUS: Final = component("Status")
RESPONSE_TYPE: Final = component("ResponseType")
CONTEXT: Final = component("Context")
METADATA: Final = component("Metadata")
COMPONENTS: Final[dict[str, Any]] = {
    "Answer": ANSWER,
    "Decision": DECISION,
    "ProcessingType": one_of(PROCESSING_TYPES),
    "ContentType": one_of(CONTENT_TYPES),
    "Priority": one_of(PRIORITIES),
    "Platform": one_of(PLATFORMS),
    "Status": one_of(states.STATUSES),
    "ResponseType": one_of(list_names()),
    "Context": {"type": "object", "additionalProperties": True, "description": "Any JSON object."},
    "Metadata": {
        "type": "object",
        "additionalProperties": {"type": "string", "maxLength": MAX_VALUE},
        "propertyNames": {"minLength": 1, "maxLength": MAX_KEY},
        "maxProperties": MAX_PAIRS,
        "description": "Strings of your own, such as an order number. Only your account sees them: "
        "in single reads, events and exports, and as a filter of lists. Reviewers do not. An empty "
        "object counts as left out.",
    },
    **{get_component_name(kind, "Config"): build_config_schema(kind) for kind in TYPES.values()},
}
NEW_REQUEST: Final = "NewRequest"
# Schemas of fields that the serializers do not describe fully.
FIELDS: Final[dict[tuple[type, str], Schema]] = {
    **{
        (serializer, name): reference
        for serializer in (RequestInput, RequestListed)
        for name, reference in (
            ("processing_type", PROCESSING_TYPE),
            ("type", CONTENT_TYPE),
            ("priority", PRIORITY),
            ("response_type", RESPONSE_TYPE),
        )
    },
    (RequestInput, "context"): CONTEXT,
    (RequestInput, "metadata"): METADATA,
    (RequestInput, "replaces"): {
        **ANY_CASE_ID,
        "description": "The request that this one is the next version of: one of your account's, "
        "in the same loop, which no other one has replaced. If it is pending or claimed, it is "
        "cancelled in the same moment, without credit; if it has ended, it stays as it is.",
    },
    (RequestInput, "platform"): PLATFORM,
    (RequestListed, "status"): STATUS,
    (RequestDetail, "platform"): PLATFORM,
    (RequestListed, "response_data"): component("Answer"),
    (RequestDetail, "context"): nullable(CONTEXT),
    (RequestDetail, "response_config"): {
        "type": "object",
        "additionalProperties": True,
        "description": "As it was sent; the request's response_type decides on its shape.",
    },
    (RequestDetail, "callback_url"): {
        "type": ["string", "null"],
        "description": "A name and password in it are hidden from everybody but the account that "
        "created the request.",
    },
    (RequestDetail, "default_response"): {"anyOf": [STRING, NUMBER, STRINGS, OBJECT]},
    (RequestDetail, "response_comment"): {
        "type": ["string", "null"],
        "description": "What the reviewer wrote beside the answer; null without a comment.",
    },
    (RequestDetail, "texts_removed_at"): {
        "type": ["string", "null"],
        "format": "date-time",
        "description": "When the texts of the request were removed, because its loop keeps them "
        "for a limited time; null while it has them.",
    },
    (RequestDetail, "metadata"): METADATA,
    (RequestDetail, "replaces"): {
        **ID,
        "description": "The request that this one is the next version of; only where there is one.",
    },
    (RequestDetail, "superseded_by"): {
        **ID,
        "description": "The next version of this request; only where there is one.",
    },
    (AnswerInput, "answer"): {
        "anyOf": [STRING, NUMBER, STRINGS, OBJECT],
        "description": "The value that response_data will have; the request's response_type "
        "decides on its shape.",
    },
    (RequestDetail, "answered_by"): nullable(one_of(["human", "grant", "default"])),
    (RequestDetail, "grant_id"): {
        **ID,
        "description": "The standing grant of the person in response_by that approved the call; "
        "only where there is one.",
    },
    (RequestDetail, "feedback"): nullable(component(FeedbackFields.__name__)),
}
