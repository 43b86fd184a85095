"""Loaded by schemathesis: puts ids that exist where it made up some of the right form.

A share of them stays made up, and the same made-up id always becomes the same real one, so that
a run can be repeated.
"""

import json
import os
import zlib
from typing import Any

import schemathesis

WORLD: dict[str, list[Any]] = json.loads(os.environ["FUZZING_WORLD"])
OF_OPERATION = {
    "deleteLoop": "expendable_loops",
    "removeMember": "crowded_loops",
    "readRequest": "requests",
    "cancelRequest": "pending_requests",
    "giveFeedback": "completed_requests",
    "readReceipt": "approved_requests",
    "redeemReceipt": "approved_requests",
}


@schemathesis.hook
def map_path_parameters(context: Any, path_parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters with real ids instead of well-formed ones."""
    operation = context.operation.definition.raw["operationId"]
    real = {
        "loop_id": OF_OPERATION.get(operation, "loops"),
        "request_id": OF_OPERATION.get(operation, "requests"),
        "user_id": "members",
        "endpoint_id": "endpoints",
    }
    for name, value in (path_parameters or {}).items():
        if is_id(value):
            path_parameters[name] = exchange(value, WORLD[real[name]])
    return path_parameters


def is_id(value: object) -> bool:
    return isinstance(value, str) and len(value) == 24


def exchange(value: str, known: list[str]) -> str:
    """One of the known ids; of eight made-up ones, one becomes a stranger's and one stays."""
    number = zlib.crc32(value.encode())
    if number % 8 == 0:
        return value
    if number % 8 == 1:
        return str(WORLD["strangers"][number % len(WORLD["strangers"])])
    return str(known[number % len(known)])
