"""Valid bodies; a test changes the one field that it is about."""

from typing import Any

LOOP: dict[str, Any] = {"name": "Editors", "description": "They decide.", "icon": "edit"}

QUESTION: dict[str, Any] = {
    "processing_type": "time-sensitive",
    "type": "markdown",
    "priority": "high",
    "request_text": "Shall we publish?",
    "timeout_seconds": 3600,
    "response_type": "single_select",
    "response_config": {"options": ["yes", "no", "later"]},
    "default_response": "no",
    "platform": "api",
}

TYPES: dict[str, dict[str, Any]] = {
    "text": {"response_config": {}, "default_response": "nothing"},
    "single_select": {"response_config": {"options": ["yes", "no"]}, "default_response": "no"},
    "multi_select": {
        "response_config": {"options": ["red", "green", "blue"]},
        "default_response": ["red", "blue"],
    },
    "rating": {"response_config": {"scale_max": 5}, "default_response": 3},
    "number": {"response_config": {"max_value": 1000}, "default_response": 12.5},
    "form": {
        "response_config": {
            "schema": {
                "type": "object",
                "properties": {
                    "amount": {"type": "number", "maximum": 10},
                    "note": {"type": "string"},
                },
                "required": ["amount"],
            }
        },
        "default_response": {"amount": 0},
    },
    "approval": {
        "response_config": {
            "proposal": {"name": "refund", "arguments": {"order": 4821, "amount": 12.5}},
            "actions": ["approve", "edit", "reject", "respond"],
        },
        "default_response": {"action": "reject"},
    },
}


def question(**changes: Any) -> dict[str, Any]:
    """A request body with `changes`."""
    return {**QUESTION, **changes}


def of_type(response_type: str, **config: Any) -> dict[str, Any]:
    """A request body of this answer type, its configuration changed by `config`."""
    shape = TYPES[response_type]
    return question(
        response_type=response_type,
        response_config={**shape["response_config"], **config},
        default_response=shape["default_response"],
    )


def without(body: dict[str, Any], *fields: str) -> dict[str, Any]:
    """`body` less `fields`."""
    return {field: value for field, value in body.items() if field not in fields}
