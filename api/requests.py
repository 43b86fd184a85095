"""/api/requests and /api/loops/{loopId}/requests."""

from dataclasses import replace
from typing import Any, ClassVar

from django.http import HttpResponse

from api.authentication import Call
from api.envelope import ok, ok_verbatim
from api.errors import (
    AddFeedbackFailed,
    ApiError,
    CancelRequestFailed,
    CreateRequestFailed,
    InvalidRequestId,
    ListLoopRequestsFailed,
    ListRequestsFailed,
    LoopDenied,
    LoopNotFound,
    NoActiveMembers,
    NotCancellable,
    NotCompleted,
    NotCreatorForRequest,
    ReadRequestFailed,
    RequestDenied,
    RequestNotFound,
)
from api.list_params import read_listing
from api.lookup import find_loop, find_own_loop, read_loop_id
from api.serializers.requests import FeedbackInput, RequestInput
from api.views import ApiView
from db.ids import normalize_id
from db.times import iso
from loops.models import Loop
from reviews import services
from reviews.models import Request, RequestQuerySet
from reviews.queries import single_read


class Requests(ApiView):
    """/api/requests"""

    permissions: ClassVar = {"GET": "requests:read"}
    failures: ClassVar = {"GET": ListRequestsFailed}

    def get(self, request: Call) -> HttpResponse:
        listing = read_listing(request.query_params, with_loop=True)
        return ok_verbatim("Requests retrieved successfully", listing.of_account(request.user.id))


class LoopRequests(ApiView):
    """/api/loops/{loopId}/requests"""

    permissions: ClassVar = {"GET": "requests:read", "POST": "requests:write"}
    failures: ClassVar = {"GET": ListLoopRequestsFailed, "POST": CreateRequestFailed}

    def get(self, request: Call, loop_id: str) -> HttpResponse:
        user_id = request.user.id
        loop = find_loop(loop_id, among=Loop.objects.alive().with_membership_of(user_id))
        if loop.creator_id != user_id and not loop.has_member:
            raise LoopDenied
        listing = read_listing(request.query_params, with_loop=False)
        return ok_verbatim("Loop requests retrieved successfully", listing.of_loop(loop.id))

    def post(self, request: Call, loop_id: str) -> HttpResponse:
        known_id = read_loop_id(loop_id)
        try:
            fields = RequestInput().check(self.body(request))
        except ApiError:
            find_own_loop(known_id, request.user, denied=NotCreatorForRequest)  # speaks first
            raise
        try:
            created = services.create_request(
                loop_id=known_id,
                account=request.user,
                api_key_id=request.auth.key_id,
                fields=fields,
            )
        except services.NoActiveMembers:
            raise NoActiveMembers from None
        except services.LoopGone:
            raise LoopNotFound from None
        except services.NotTheOwner:
            raise NotCreatorForRequest from None
        data = represent_created(created)
        return ok("Request created and broadcasted successfully", data, status=201)


class RequestDetails(ApiView):
    """/api/requests/{id}"""

    permissions: ClassVar = {"GET": "requests:read", "DELETE": "requests:write"}
    failures: ClassVar = {"GET": ReadRequestFailed, "DELETE": CancelRequestFailed}

    def get(self, request: Call, request_id: str) -> HttpResponse:
        known_id = read_id(request_id)
        try:
            found = single_read.read_as_json(known_id, user_id=request.user.id)
        except Request.DoesNotExist:
            raise RequestNotFound from None
        except single_read.NotVisible:
            raise RequestDenied from None
        return ok_verbatim("Request retrieved successfully", {"request": found})

    def delete(self, request: Call, request_id: str) -> HttpResponse:
        known_id = read_id(request_id)
        try:
            credited = services.cancel_request(request_id=known_id, account_id=request.user.id)
        except Request.DoesNotExist:
            raise RequestNotFound from None
        except services.TransitionLost:
            raise NotCancellable from None
        if credited == request.auth.key_id:
            quota = request.auth.quota
            self.quota = replace(quota, used=quota.used - 1)
        data = {"request_id": known_id, "status": "cancelled"}
        return ok("Request cancelled successfully", data)


class RequestFeedback(ApiView):
    """/api/requests/{id}/feedback"""

    permissions: ClassVar = {"POST": "requests:write"}
    failures: ClassVar = {"POST": AddFeedbackFailed}

    def post(self, request: Call, request_id: str) -> HttpResponse:
        found = find_request(request_id, Request.objects.created_by(request.user.id))
        if not services.may_have_feedback(found):
            raise NotCompleted
        feedback = FeedbackInput().check(self.body(request))["feedback"]
        services.add_feedback(request=found, feedback=feedback)
        data = {"request_id": found.id, "feedback": feedback}
        return ok("Feedback added successfully", data)


def read_id(raw_id: str) -> str:
    """The id in a path. Raises InvalidRequestId."""
    request_id = normalize_id(raw_id)
    if request_id is None:
        raise InvalidRequestId
    return request_id


def find_request(raw_id: str, allowed: RequestQuerySet) -> Request:
    """The request, settled. Raises InvalidRequestId, RequestNotFound, RequestDenied."""
    request_id = read_id(raw_id)
    try:
        return services.read_request(request_id, allowed=allowed)
    except Request.DoesNotExist:
        pass
    if Request.objects.filter(pk=request_id).exists():
        raise RequestDenied
    raise RequestNotFound


def represent_created(created: Request) -> dict[str, Any]:
    """The `data` of a new request."""
    return {
        "request_id": created.id,
        "status": created.status,
        "processing_type": created.processing_type,
        "type": created.type,
        "priority": created.priority,
        "timeout_at": iso(created.timeout_at),
        "broadcasted_to": created.broadcasted_to,
        "notifications_sent": created.notifications_sent,
        "polling_url": f"/v1/api/requests/{created.id}",
    }
