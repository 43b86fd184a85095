"""API views of reviewers, who call with a review token: /review/requests (`review`)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from django.http import HttpResponse

from accounts.review_quota import PERMISSION
from accounts.review_tokens import TokenEnded
from api.authentication import REVIEW_TOKENS, Call
from api.envelope import ok_rows
from api.errors import (
    AnswerFailed,
    AnswerRefused,
    ClaimFailed,
    EndedReviewToken,
    GrantRefused,
    ListReviewRequestsFailed,
    NotAnswerable,
    NotAskedByPolicy,
    NotClaimable,
    NotReleasable,
    ReadReviewRequestFailed,
    ReleaseFailed,
    RequestNotFound,
    StateConflict,
)
from api.list_params import read_loop_filter
from api.pagination import read_page
from api.requests import read_request_id
from api.serializers.reviewing import AnswerInput
from api.views import ApiView
from reviews import services, viewers
from reviews.comments import InvalidComment
from reviews.grants import Terms
from reviews.lifecycle import states
from reviews.models import Request
from reviews.queries import for_reviewers
from reviews.response_types import InvalidAnswer, InvalidFields


class ReviewView(ApiView):
    """The base class of a reviewer's paths. They take review tokens, and no API keys."""

    credentials = REVIEW_TOKENS


class ReviewRequests(ReviewView):
    """/review/requests"""

    permissions: ClassVar = {"GET": PERMISSION}
    failures: ClassVar = {"GET": ListReviewRequestsFailed}

    def get(self, call: Call) -> HttpResponse:
        loop_id = read_loop_filter(call.query_params)
        page = read_page(call.query_params)
        found = for_reviewers.list_open(
            call.account.id, loop_id=loop_id, first=page.offset, count=page.limit
        )
        fields = page.describe(count=len(found.entries), total=found.total)
        return ok_rows(
            "Review requests retrieved successfully", {"requests": found.entries, **fields}
        )


class ReviewRequest(ReviewView):
    """/review/requests/{id}"""

    permissions: ClassVar = {"GET": PERMISSION}
    failures: ClassVar = {"GET": ReadReviewRequestFailed}

    def get(self, call: Call, request_id: str) -> HttpResponse:
        request = find_request(call, request_id)
        if request.status in states.OPEN:
            viewers.record_opened(request, call.account.id)
        return respond("Review request retrieved successfully", request, call)


class ReviewClaim(ReviewView):
    """/review/requests/{id}/claim"""

    permissions: ClassVar = {"POST": PERMISSION}
    failures: ClassVar = {"POST": ClaimFailed}

    def post(self, call: Call, request_id: str) -> HttpResponse:
        request = find_request(call, request_id)
        with translating(NotClaimable):
            services.claim_request(request=request, **describe_reviewer(call))
        return respond("Request claimed successfully", find_request(call, request_id), call)


class ReviewRelease(ReviewView):
    """/review/requests/{id}/release"""

    permissions: ClassVar = {"POST": PERMISSION}
    failures: ClassVar = {"POST": ReleaseFailed}

    def post(self, call: Call, request_id: str) -> HttpResponse:
        request = find_request(call, request_id)
        with translating(NotReleasable):
            services.release_claim(request=request, **describe_reviewer(call))
        return respond("Request released successfully", find_request(call, request_id), call)


class ReviewAnswer(ReviewView):
    """/review/requests/{id}/answer"""

    permissions: ClassVar = {"POST": PERMISSION}
    failures: ClassVar = {"POST": AnswerFailed}

    def post(self, call: Call, request_id: str) -> HttpResponse:
        request = find_request(call, request_id)
        sent = AnswerInput().check(self.read_body(call))
        with translating(NotAnswerable):
            services.answer_request(
                request=request,
                answer=sent["answer"],
                comment=sent.get("comment", ""),
                terms=read_terms(sent),
                **describe_reviewer(call),
            )
        return respond("Request answered successfully", find_request(call, request_id), call)


def find_request(call: Call, raw_id: str) -> Request:
    """Returns a request of a loop where the person is an active member, settled if it is due.

    Raises InvalidRequestId, RequestNotFound.
    """
    request_id = read_request_id(raw_id)
    try:
        return services.read_request(
            request_id, allowed=Request.objects.reviewable_by(call.account.id)
        )
    except Request.DoesNotExist:
        raise RequestNotFound from None


def describe_reviewer(call: Call) -> dict[str, Any]:
    """Returns who acts: the person, and the token that has to be valid until the end."""
    return {"reviewer_id": call.account.id, "token_id": call.caller.key_id}


def read_terms(sent: dict[str, Any]) -> Terms | None:
    """Reads for how long equal calls may run; None for this call alone."""
    if "grant" not in sent:
        return None
    grant = sent["grant"]
    return Terms(grant["hours"], grant["uses"], grant.get("arguments"))


def respond(message: str, request: Request, call: Call) -> HttpResponse:
    return ok_rows(message, {"request": for_reviewers.represent(request, call.account.id)})


@contextmanager
def translating(lost: type[StateConflict]) -> Iterator[None]:
    """Raises the error of the API for each exception of what a reviewer does."""
    try:
        yield
    except (services.NotAReviewer, Request.DoesNotExist):
        raise RequestNotFound from None
    except services.NotAsked:
        raise NotAskedByPolicy from None
    except TokenEnded:
        raise EndedReviewToken from None
    except InvalidFields as error:
        raise AnswerRefused("; ".join(f"{k}: {v}" for k, v in error.errors.items())) from None
    except (InvalidAnswer, InvalidComment) as error:
        raise AnswerRefused(str(error)) from None
    except services.InvalidGrant as error:
        raise GrantRefused(str(error)) from None
    except services.TransitionLost as error:
        now = error.request
        raise lost({"status": now.status, "claimed_by": now.claimed_by_id}) from None
