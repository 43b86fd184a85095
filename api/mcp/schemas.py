"""JSON schemas of the tools, from the OpenAPI document: the serializers are their one home.

Agents' models read them, so references are replaced by what they mean, and nothing stands beside
`type` at the top: some providers refuse it there.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from api.long_polling import MAX_SECONDS
from api.openapi.answers import NUMBER, OBJECT, STRINGS, get_component_name
from api.openapi.document import OPERATIONS
from api.openapi.operations import ANY_CASE_ID, STRING, Schema, object_of
from api.openapi.pages import load_document
from api.views import ApiView
from reviews.response_types import TYPES

_REFERENCE = "#/components/schemas/"
# Nobody chooses them for a tool: the service knows them itself.
_NOT_FOR_AGENTS = ("platform", "platform_version")

WAIT: Schema = {
    "type": "integer",
    "minimum": 1,
    "maximum": MAX_SECONDS,
    "description": "Return as soon as there is an answer, or after this many seconds.",
}
IDEMPOTENCY_KEY: Schema = {
    "type": "string",
    "minLength": 1,
    "maxLength": 255,
    "pattern": "^[ -~]+$",
    "description": "A name of your own for this question. The same name with the same arguments "
    "within 24 hours finds the question again, and asks nobody twice. Use one that you still know "
    "after a crash.",
}


def inline(schema: Any) -> Any:
    """Replaces references to components by the components."""
    if isinstance(schema, list):
        return [inline(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" not in schema:
        return {name: inline(value) for name, value in schema.items()}
    name = schema["$ref"].removeprefix(_REFERENCE)
    others = {key: value for key, value in schema.items() if key != "$ref"}
    return {**inline(load_document()["components"]["schemas"][name]), **inline(others)}


def find_operation(view: type[ApiView], method: str) -> dict[str, Any]:
    """Returns the operation as the document describes it."""
    name = OPERATIONS[view, method].name
    operations = (each for path in load_document()["paths"].values() for each in path.values())
    found: dict[str, Any] = next(each for each in operations if each["operationId"] == name)
    return found


def build_output(view: type[ApiView], method: str) -> Schema:
    """Builds the schema of an operation's `data`."""
    operation = OPERATIONS[view, method]
    response = find_operation(view, method)["responses"][str(operation.status)]
    envelope = response["content"]["application/json"]["schema"]
    schema: Schema = inline(envelope["properties"]["data"])
    return schema


def build_paths(view: type[ApiView], method: str) -> dict[str, Schema]:
    """Builds the schemas of the ids in an operation's path."""
    texts = OPERATIONS[view, method].paths
    return {name: {**ANY_CASE_ID, "description": text} for name, text in texts.items()}


def build_query(view: type[ApiView], method: str) -> dict[str, Schema]:
    """Builds the schemas of an operation's query parameters."""
    parameters = OPERATIONS[view, method].query
    return {
        each.name: inline({**each.schema, "description": each.description}) for each in parameters
    }


@cache
def build_new_request() -> Schema:
    """Builds the schema of a new request of any response type, as one object."""
    components = load_document()["components"]["schemas"]
    kinds = list(TYPES.values())
    one = components[get_component_name(kinds[0], "Request")]
    configs = [
        {"title": kind.name, **components[get_component_name(kind, "Config")]} for kind in kinds
    ]
    own = {
        "response_type": components["ResponseType"],
        "response_config": {
            "description": 'Depends on response_type, such as {"options": ["yes", "no"]} for '
            "single_select.",
            "anyOf": configs,
        },
        "default_response": {
            "description": "The answer if nobody answers in time. Choose what is safe. For a "
            "select, the value of an option; for a form, an object.",
            "anyOf": [STRING, NUMBER, STRINGS, OBJECT],
        },
    }
    properties = {
        name: own.get(name, schema)
        for name, schema in one["properties"].items()
        if name not in _NOT_FOR_AGENTS
    }
    required = [name for name in one["properties"] if name in one["required"]]
    schema: Schema = inline({"properties": properties, "required": required})
    schema["required"] = [name for name in required if name not in _NOT_FOR_AGENTS]
    return schema


def pick(schema: Schema, names: Iterable[str]) -> dict[str, Schema]:
    """Returns some of an object's properties, in the order of the names."""
    return {name: schema["properties"][name] for name in names}


def build_input(properties: Mapping[str, Schema], *, required: Iterable[str]) -> Schema:
    """Builds the schema of a tool's arguments; others are refused."""
    return object_of(properties, optional=properties.keys() - set(required))


def build_body(view: type[ApiView], method: str) -> Schema:
    """Builds the schema of an operation's body, as one object."""
    content = find_operation(view, method)["requestBody"]["content"]["application/json"]
    schema: Schema = inline(content["schema"])
    return build_new_request() if "oneOf" in schema else schema
