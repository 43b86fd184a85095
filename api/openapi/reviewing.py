"""The OpenAPI descriptions of the operations that take a review token."""

from typing import Any, Final

from api.errors import (
    AnswerRefused,
    ApiError,
    GrantRefused,
    InvalidBody,
    InvalidLoopId,
    InvalidRequestId,
    NotAnswerable,
    NotAskedByPolicy,
    NotClaimable,
    NotReleasable,
    RequestNotFound,
    ValidationFailed,
)
from api.openapi.examples import DETAIL, REVIEWER
from api.openapi.listings import DATA, LIMIT, OFFSET
from api.openapi.loops import LOOP
from api.openapi.operations import ANY_CASE_ID, Body, Operation, Operations, Parameter
from api.openapi.requests import REQUEST_PATH
from api.reviewing import ReviewAnswer, ReviewClaim, ReviewRelease, ReviewRequest, ReviewRequests
from api.serializers.reviewing import AnswerInput, ReviewDetail, ReviewListed
from reviews.queries.for_reviewers import REVIEW_DETAIL, REVIEW_LISTED

TAG: Final = "Review"
BY_PERSON: Final = "A call of a person with a review token; an API key gets a 401. "
PENDING: Final[dict[str, Any]] = {
    **DETAIL,
    "status": "pending",
    **dict.fromkeys(
        ("response_data", "response_by", "response_by_user", "response_at", "response_comment")
    ),
    "answered_by": None,
    "claim_expires_at": None,
    "loop_name": LOOP["name"],
    "may_answer": True,
}
ROW: Final = {name: PENDING[name] for name in (*REVIEW_LISTED.names, "loop_name", "may_answer")}
READ: Final = {
    name: PENDING[name]
    for name in (*REVIEW_DETAIL.names, "loop_name", "may_answer")
    if name in PENDING
} | {"your_answer": None}
CLAIMED: Final = {
    **READ,
    "status": "claimed",
    "claimed_by": REVIEWER["id"],
    "claimed_at": "2026-05-04T10:41:00.000Z",
    "claim_expires_at": "2026-05-04T10:51:00.000Z",
}
GIVEN: Final = {
    name: DETAIL[name]
    for name in (
        "response_data", "response_comment", "response_by", "response_by_user", "response_at",
    )
}  # fmt: skip
ANSWERED: Final = {
    **READ,
    "status": "completed",
    "may_answer": False,
    "answered_by": "human",
    **GIVEN,
    "your_answer": GIVEN,
}
ACTING: Final[tuple[type[ApiError], ...]] = (InvalidRequestId, RequestNotFound)


def describe_action(
    name: str,
    summary: str,
    description: str,
    message: str,
    example: dict[str, Any],
    errors: tuple[type[ApiError], ...],
    body: Body | None = None,
) -> Operation:
    return Operation(
        name=name,
        tag=TAG,
        summary=summary,
        description=BY_PERSON + description,
        message=message,
        paths=REQUEST_PATH,
        body=body,
        data={"request": ReviewDetail},
        example={"request": example},
        errors=(*ACTING, *errors),
    )


OPERATIONS: Operations = {
    (ReviewRequests, "GET"): Operation(
        name="listReviewRequests",
        tag=TAG,
        summary="List the requests that wait for you",
        description=BY_PERSON + "The open requests of your loops that ask you and that you have "
        "not answered, critical ones first, then by deadline. Those that somebody else has claimed "
        "are listed too, with may_answer false.",
        message="Review requests retrieved successfully",
        query=(
            Parameter("loop_id", "Only requests of this loop.", ANY_CASE_ID),
            Parameter("limit", "How many requests to return. Default: 50.", LIMIT),
            Parameter("offset", "How many requests to skip. Default: 0.", OFFSET),
        ),
        data={**DATA, "requests": [ReviewListed]},
        example={
            "requests": [ROW],
            "count": 1,
            "total": 1,
            "has_more": False,
            "pagination": {"limit": 50, "offset": 0, "next_offset": None},
        },
        errors=(InvalidLoopId, ValidationFailed),
    ),
    (ReviewRequest, "GET"): Operation(
        name="readReviewRequest",
        tag=TAG,
        summary="Read a request that you may review",
        description=BY_PERSON
        + "Any request of your loops. Reading an open one tells the account that "
        "asks that you have opened it. answers has those of others only where the policy shows "
        "them.",
        message="Review request retrieved successfully",
        paths=REQUEST_PATH,
        data={"request": ReviewDetail},
        example={"request": READ},
        errors=ACTING,
    ),
    (ReviewClaim, "POST"): describe_action(
        "claimReviewRequest",
        "Claim a request",
        "Nobody else can answer it until claim_expires_at; again, it renews your claim. A request "
        "of several answers has no claims, and stays as it is.",
        "Request claimed successfully",
        CLAIMED,
        (NotAskedByPolicy, NotClaimable),
    ),
    (ReviewRelease, "POST"): describe_action(
        "releaseReviewRequest",
        "Release your claim",
        "The request is pending again.",
        "Request released successfully",
        READ,
        (NotReleasable,),
    ),
    (ReviewAnswer, "POST"): describe_action(
        "answerReviewRequest",
        "Answer a request",
        "By the rules of the portal: the configuration of the request, its policy, the options "
        "for which the loop wants a comment, and claims of others. The same answer again succeeds. "
        "Where several people answer, another answer of yours replaces the one before, as long as "
        "the request is open. With grant, an approval without changes also allows equal calls for "
        "a while.",
        "Request answered successfully",
        ANSWERED,
        (
            AnswerRefused,
            GrantRefused,
            ValidationFailed,
            InvalidBody,
            NotAskedByPolicy,
            NotAnswerable,
        ),
        Body(
            AnswerInput,
            {
                "choice": {"answer": "refund", "comment": "The photo shows the crack."},
                "approval": {"answer": {"action": "approve"}},
                "allowed for a while": {
                    "answer": {"action": "approve"},
                    "grant": {"hours": 4, "uses": 20, "arguments": ["repository"]},
                },
            },
        ),
    ),
}
