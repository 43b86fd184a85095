"""The OpenAPI descriptions of single requests and of feedback on their answers."""

from typing import Final

from api.errors import (
    ImageUrlRequired,
    InvalidBody,
    InvalidDefaultResponse,
    InvalidLoopId,
    InvalidRequestId,
    InvalidResponseConfiguration,
    LoopNotFound,
    NoActiveMembers,
    NotCancellable,
    NotCompleted,
    NotCreatorForRequest,
    RequestDenied,
    RequestNotFound,
    RequestTextRequired,
    TimeoutRequired,
    ValidationFailed,
)
from api.long_polling import HEADER, MAX_SECONDS
from api.openapi.answers import CONTENT_TYPE, NEW_REQUEST, PRIORITY, PROCESSING_TYPE
from api.openapi.examples import CREATED, DETAIL, FEEDBACK, LISTED, NEW_BY_TYPE
from api.openapi.loops import LOOP_PATH
from api.openapi.operations import (
    COUNT,
    ID,
    TIMESTAMP,
    Body,
    Operation,
    Operations,
    Parameter,
    component,
    one_of,
)
from api.requests import LoopRequests, RequestDetails, RequestFeedback
from api.serializers.requests import (
    FeedbackFields,
    FeedbackInput,
    RequestDetail,
    RequestInput,
)
from reviews.lifecycle import states

REQUEST_PATH: Final = {"request_id": "The request's id."}
NEXT_OPERATIONS: Final = ("readRequest", "cancelRequest", "giveFeedback")
LINKS: Final = {name: {"request_id": "$response.body#/data/request_id"} for name in NEXT_OPERATIONS}

WAIT: Final = Parameter(
    "wait",
    "Respond as soon as the request has ended, or after this many seconds with what it is then. "
    f"Costs one call. The header {HEADER} repeats the number. It begins with 0 where too many "
    "calls are waiting: then the response comes at once.",
    {"type": "integer", "minimum": 1, "maximum": MAX_SECONDS},
)

OPERATIONS: Operations = {
    (LoopRequests, "POST"): Operation(
        name="createRequest",
        tag="Requests",
        summary="Create a request",
        description="Sends a request to every active member of the loop. Read it with `wait`, or "
        "give a `callback_url`, to learn the answer as soon as it is there. image_url is required "
        "when type is image, timeout_seconds when processing_type is time-sensitive; a deferred "
        "request without it times out after 30 days. default_response becomes the answer if the "
        "request times out. Only the loop's creator may do this. A call that a "
        "reviewer has allowed for a while is completed at once. notifications_sent counts the "
        "push notifications that push services have accepted so far: 0 here, since nobody waits "
        "for them, and more in later reads.",
        message="Request created and broadcasted successfully",
        status=201,
        headers=("Link",),
        takes_trace=True,
        paths=LOOP_PATH,
        body=Body(RequestInput, NEW_BY_TYPE, schema=component(NEW_REQUEST)),
        data={
            "request_id": ID,
            "status": one_of([states.PENDING, states.COMPLETED]),
            "processing_type": PROCESSING_TYPE,
            "type": CONTENT_TYPE,
            "priority": PRIORITY,
            "timeout_at": TIMESTAMP,
            "broadcasted_to": COUNT,
            "notifications_sent": COUNT,
            "polling_url": {"type": "string", "pattern": "^/v1/api/requests/[0-9a-f]{24}$"},
        },
        example=CREATED,
        errors=(
            InvalidLoopId,
            RequestTextRequired,
            ImageUrlRequired,
            TimeoutRequired,
            InvalidResponseConfiguration,
            InvalidDefaultResponse,
            ValidationFailed,
            InvalidBody,
            NoActiveMembers,
            NotCreatorForRequest,
            LoopNotFound,
        ),
        links=LINKS,
    ),
    (RequestDetails, "GET"): Operation(
        name="readRequest",
        tag="Requests",
        summary="Read a request and its answer",
        description="Repeat this until status is completed, timeout or cancelled; with `wait` the "
        "response comes as soon as it is. answered_by tells a person's answer from the default "
        "one. The account that created the request and the active members of its loop may do this.",
        message="Request retrieved successfully",
        paths=REQUEST_PATH,
        query=(WAIT,),
        data={"request": RequestDetail},
        example={"request": DETAIL},
        errors=(InvalidRequestId, RequestDenied, RequestNotFound, ValidationFailed),
    ),
    (RequestDetails, "DELETE"): Operation(
        name="cancelRequest",
        tag="Requests",
        summary="Cancel a request",
        description="Only a pending request can be cancelled, and only by the account that "
        "created it. If it was created in the current hour, its call is credited to its key.",
        message="Request cancelled successfully",
        paths=REQUEST_PATH,
        data={"request_id": ID, "status": one_of([states.CANCELLED])},
        takes_trace=True,
        example={"request_id": LISTED["id"], "status": "cancelled"},
        errors=(InvalidRequestId, NotCancellable, RequestNotFound),
    ),
    (RequestFeedback, "POST"): Operation(
        name="giveFeedback",
        tag="Requests",
        summary="Give feedback on an answer",
        description="Stores your feedback on a completed request's answer. Every field is "
        "optional, unknown fields are stored as sent, and new feedback replaces the old. Only the "
        "account that created the request may do this.",
        message="Feedback added successfully",
        paths=REQUEST_PATH,
        body=Body(FeedbackInput, {"feedback": {"feedback": FEEDBACK}}),
        data={"request_id": ID, "feedback": FeedbackFields},
        example={"request_id": LISTED["id"], "feedback": FEEDBACK},
        errors=(
            InvalidRequestId,
            NotCompleted,
            ValidationFailed,
            InvalidBody,
            RequestDenied,
            RequestNotFound,
        ),
    ),
}
