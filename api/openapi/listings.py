"""The OpenAPI descriptions of the lists of requests."""

from typing import Final

from api.errors import InvalidLoopId, LoopDenied, LoopNotFound, ValidationFailed
from api.openapi.answers import PRIORITY, STATUS
from api.openapi.examples import PAGE
from api.openapi.loops import LOOP, LOOP_PATH
from api.openapi.operations import (
    ANY_CASE_ID,
    BOOLEAN,
    COUNT,
    ID,
    Operation,
    Operations,
    Parameter,
    Shape,
    nullable,
    object_of,
    one_of,
)
from api.pagination import DEFAULT_LIMIT, MAX_LIMIT, MAX_OFFSET
from api.requests import LoopRequests, Requests
from api.serializers.requests import RequestListed
from reviews.models.metadata import MAX_PAIRS, MAX_VALUE
from reviews.queries.listing import DEFAULT_ORDER, ORDERS

LIMIT: Final = {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT}
OFFSET: Final = {"type": "integer", "minimum": 0, "maximum": MAX_OFFSET}
CURSOR: Final = {"type": "string", "maxLength": 64}
QUERY: Final = (
    Parameter("status", "Only requests that have this status now.", STATUS),
    Parameter("priority", "Only requests of this priority.", PRIORITY),
    Parameter("limit", f"How many requests to return. Default: {DEFAULT_LIMIT}.", LIMIT),
    Parameter(
        "offset",
        "How many requests to skip: next_offset of the previous page. Default: 0.",
        OFFSET,
    ),
    Parameter(
        "sort",
        "Requests that sort equally come newest first; pages neither repeat nor skip any. "
        f"Default: {DEFAULT_ORDER}.",
        one_of(ORDERS),
    ),
    Parameter(
        "cursor",
        "Follows the list by its requests instead of by offset: empty for the first page, then "
        "next_cursor of the previous page. What enters or leaves the list meanwhile moves no other "
        "request past the next page.",
        CURSOR,
    ),
    Parameter(
        "metadata",
        "Only requests that your account created with all of these pairs, such as "
        "`metadata[order]=1042`.",
        {
            "type": "object",
            "additionalProperties": {"type": "string", "maxLength": MAX_VALUE},
            "maxProperties": MAX_PAIRS,
        },
    ),
)
DATA: Final[dict[str, Shape]] = {
    "requests": [RequestListed],
    "count": {**COUNT, "description": "Requests on this page."},
    "total": {**COUNT, "description": "Requests that match the filters."},
    "has_more": BOOLEAN,
    "pagination": object_of(
        {
            "limit": {**LIMIT},
            "offset": {**OFFSET},
            "next_offset": {
                **nullable(COUNT),
                "description": "Null on the last page, and with a cursor.",
            },
            "next_cursor": {
                **nullable(CURSOR),
                "description": "Only with a cursor. Null on the last page.",
            },
        },
        optional=["next_cursor"],
    ),
}

OPERATIONS: Operations = {
    (Requests, "GET"): Operation(
        name="listRequests",
        tag="Requests",
        summary="List your requests",
        description="The requests that your account created.",
        message="Requests retrieved successfully",
        query=(
            *QUERY[:2],
            Parameter("loop_id", "Only requests of this loop.", ANY_CASE_ID),
            *QUERY[2:],
        ),
        data=DATA,
        example=PAGE,
        errors=(ValidationFailed, InvalidLoopId),
    ),
    (LoopRequests, "GET"): Operation(
        name="listLoopRequests",
        tag="Requests",
        summary="List a loop's requests",
        description="The loop's creator and its active members may do this.",
        message="Loop requests retrieved successfully",
        paths=LOOP_PATH,
        query=QUERY,
        data={"loop_id": ID, **DATA},
        example={"loop_id": LOOP["id"], **PAGE},
        errors=(InvalidLoopId, ValidationFailed, LoopDenied, LoopNotFound),
    ),
}
