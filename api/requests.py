"""API views of requests: /api/requests and /api/loops/{loopId}/requests."""

from dataclasses import replace
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse

from api import long_polling
from api.authentication import Call
from api.envelope import link_help, ok, ok_rows
from api.errors import (
    ApiError,
    InvalidRequestId,
    LoopDenied,
    LoopNotFound,
    NoActiveMembers,
    NotCancellable,
    NotCompleted,
    NotCreatorForRequest,
    RequestDenied,
    RequestNotFound,
    ValidationFailed,
)
from api.failures import (
    AddFeedbackFailed,
    CancelRequestFailed,
    CreateRequestFailed,
    ListLoopRequestsFailed,
    ListRequestsFailed,
    ReadRequestFailed,
)
from api.list_params import read_list_params
from api.lookup import find_loop, find_own_loop, read_loop_id
from api.serializers.requests import FeedbackInput, RequestInput
from api.views import ApiView
from db.ids import normalize_id
from db.times import iso
from loops.models import Loop
from reviews import services
from reviews.models import Request, RequestQuerySet
from reviews.queries import single_read
from reviews.response_types.approval import APPROVAL


class Requests(ApiView):
    """/api/requests"""

    permissions: ClassVar = {"GET": "requests:read"}
    failures: ClassVar = {"GET": ListRequestsFailed}

    def get(self, call: Call) -> HttpResponse:
        params = read_list_params(call.query_params, with_loop=True)
        data = params.fetch_for_account(call.account.id)
        return ok_rows("Requests retrieved successfully", data)


class LoopRequests(ApiView):
    """/api/loops/{loopId}/requests"""

    permissions: ClassVar = {"GET": "requests:read", "POST": "requests:write"}
    failures: ClassVar = {"GET": ListLoopRequestsFailed, "POST": CreateRequestFailed}

    def get(self, call: Call, loop_id: str) -> HttpResponse:
        user_id = call.account.id
        loop = find_loop(loop_id, among=Loop.objects.alive().with_membership_of(user_id))
        if loop.creator_id != user_id and not loop.has_member:
            raise LoopDenied
        params = read_list_params(call.query_params, with_loop=False)
        return ok_rows(
            "Loop requests retrieved successfully",
            params.fetch_for_loop(loop.id, account_id=user_id),
        )

    def dispatch(self, request: HttpRequest, **ids: str) -> HttpResponse:
        response = super().dispatch(request, **ids)
        if response.status_code == 201:  # whether the call is repeated or not
            link_help(response)
        return response

    def post(self, call: Call, loop_id: str) -> HttpResponse:
        valid_id = read_loop_id(loop_id)
        try:
            fields = RequestInput().check(self.read_body(call))
            if fields["response_type"] == APPROVAL:
                self.refuse_repeated(call, "response_config", "proposal")
        except ApiError:
            # its errors precede those of the body
            find_own_loop(valid_id, call.account, denied=NotCreatorForRequest)
            raise
        try:
            created = services.create_request(
                loop_id=valid_id,
                account=call.account,
                api_key_id=call.caller.key_id,
                fields=fields,
                asked_through=call.asked_through,
                traceparent=call.traceparent,
            )
        except services.NoActiveMembers:
            raise NoActiveMembers from None
        except services.LoopGone:
            raise LoopNotFound from None
        except services.NotTheOwner:
            raise NotCreatorForRequest from None
        except services.Refused as error:
            raise ValidationFailed(error.args[0]) from None
        data = serialize_created(created)
        return ok("Request created and broadcasted successfully", data, status=201)


class RequestDetails(ApiView):
    """/api/requests/{id}"""

    permissions: ClassVar = {"GET": "requests:read", "DELETE": "requests:write"}
    failures: ClassVar = {"GET": ReadRequestFailed, "DELETE": CancelRequestFailed}

    def get(self, call: Call, request_id: str) -> HttpResponse:
        valid_id = read_request_id(request_id)
        seconds = long_polling.read_seconds(call.query_params)
        if seconds is None:
            return respond_with(read(call, valid_id))
        waiter = long_polling.take_place(
            call.request, valid_id, key_id=call.caller.key_id, seconds=seconds
        )
        if waiter is None:
            response = respond_with(read(call, valid_id))
            response[long_polling.HEADER] = long_polling.NOT_APPLIED
            return response
        shown = long_polling.read_or_wait(call.request, waiter, lambda: read(call, valid_id))
        response = respond_with(shown)
        response[long_polling.HEADER] = str(seconds)
        return response

    def delete(self, call: Call, request_id: str) -> HttpResponse:
        valid_id = read_request_id(request_id)
        try:
            credited_key_id = services.cancel_request(
                request_id=valid_id,
                account_id=call.account.id,
                is_call=True,
                traceparent=call.traceparent,
            )
        except Request.DoesNotExist:
            raise RequestNotFound from None
        except services.TransitionLost:
            raise NotCancellable from None
        if credited_key_id == call.caller.key_id:
            quota = call.caller.quota
            self.quota = replace(quota, used=quota.used - 1)
        data = {"request_id": valid_id, "status": "cancelled"}
        return ok("Request cancelled successfully", data)


class RequestFeedback(ApiView):
    """/api/requests/{id}/feedback"""

    permissions: ClassVar = {"POST": "requests:write"}
    failures: ClassVar = {"POST": AddFeedbackFailed}

    def post(self, call: Call, request_id: str) -> HttpResponse:
        request = find_request(request_id, Request.objects.created_by(call.account.id))
        if not services.may_have_feedback(request):
            raise NotCompleted
        feedback = FeedbackInput().check(self.read_body(call))["feedback"]
        try:
            stored = services.add_feedback(request=request, feedback=feedback)
        except Request.DoesNotExist:
            raise RequestNotFound from None
        data = {"request_id": request.id, "feedback": stored}
        return ok("Feedback added successfully", data)


def read(call: Call, request_id: str) -> dict[str, Any]:
    """Returns the request as its single read. Raises RequestNotFound, RequestDenied."""
    try:
        return single_read.read(request_id, user_id=call.account.id)
    except Request.DoesNotExist:
        raise RequestNotFound from None
    except single_read.NotVisible:
        raise RequestDenied from None


def respond_with(request: dict[str, Any]) -> HttpResponse:
    """Builds the response to a single read."""
    return ok_rows("Request retrieved successfully", {"request": request})


def read_request_id(raw_id: str) -> str:
    """Reads the request id of a path. Raises InvalidRequestId."""
    request_id = normalize_id(raw_id)
    if request_id is None:
        raise InvalidRequestId
    return request_id


def find_request(raw_id: str, allowed: RequestQuerySet) -> Request:
    """Returns the request after settling what is due.

    Raises InvalidRequestId, RequestNotFound, RequestDenied.
    """
    request_id = read_request_id(raw_id)
    try:
        return services.read_request(request_id, allowed=allowed)
    except Request.DoesNotExist:
        pass
    if Request.objects.filter(pk=request_id).exists():
        raise RequestDenied
    raise RequestNotFound


def serialize_created(request: Request) -> dict[str, Any]:
    """Builds the `data` of a new request."""
    return {
        "request_id": request.id,
        "status": request.status,
        "processing_type": request.processing_type,
        "type": request.type,
        "priority": request.priority,
        "timeout_at": iso(request.timeout_at),
        "broadcasted_to": request.broadcasted_to,
        "notifications_sent": request.notifications_sent,
        "polling_url": f"/v1/api/requests/{request.id}",
    }
