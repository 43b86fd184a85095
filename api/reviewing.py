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
    AnswerRefused,
    EndedReviewToken,
    GrantRefused,
    NotAnswerable,
    NotAskedByPolicy,
    NotClaimable,
    NotReleasable,
    RequestNotFound,
    StateConflict,
)
from api.failures import (
    AnswerFailed,
    ClaimFailed,
    ListReviewRequestsFailed,
    ReadReviewRequestFailed,
    ReleaseFailed,
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

    def check_replay(self, call: Call, ids: dict[str, str]) -> None:
        find_request(call, ids["request_id"])  # the person may have left the loop


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
        with changing(call, request_id, lost=NotClaimable) as change:
            services.claim_request(**change)
        return respond("Request claimed successfully", find_request(call, request_id), call)


class ReviewRelease(ReviewView):
    """/review/requests/{id}/release"""

    permissions: ClassVar = {"POST": PERMISSION}
    failures: ClassVar = {"POST": ReleaseFailed}

    def post(self, call: Call, request_id: str) -> HttpResponse:
        with changing(call, request_id, lost=NotReleasable) as change:
            services.release_claim(**change)
        return respond("Request released successfully", find_request(call, request_id), call)


class ReviewAnswer(ReviewView):
    """/review/requests/{id}/answer"""

    permissions: ClassVar = {"POST": PERMISSION}
    failures: ClassVar = {"POST": AnswerFailed}

    def post(self, call: Call, request_id: str) -> HttpResponse:
        with changing(call, request_id, lost=NotAnswerable) as change:
            sent = AnswerInput().check(self.read_body(call))
            services.answer_request(
                answer=sent["answer"],
                comment=sent.get("comment", ""),
                terms=read_terms(sent),
                **change,
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


def read_terms(sent: dict[str, Any]) -> Terms | None:
    """Reads the terms of a standing grant; None if the approval is for this call alone."""
    if "grant" not in sent:
        return None
    grant = sent["grant"]
    return Terms(grant["hours"], grant["uses"], grant.get("arguments"))


def respond(message: str, request: Request, call: Call) -> HttpResponse:
    return ok_rows(message, {"request": for_reviewers.represent(request, call.account.id)})


@contextmanager
def changing(call: Call, raw_id: str, *, lost: type[StateConflict]) -> Iterator[dict[str, Any]]:
    """Yields the arguments of a reviewer's change: the request, the person, and the token.

    Raises the error of the API for each exception of the change. `lost` is the one for a request
    that is in another state.
    """
    request = find_request(call, raw_id)
    try:
        yield {
            "request": request,
            "reviewer_id": call.account.id,
            "token_id": call.caller.key_id,
        }
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
