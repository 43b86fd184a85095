"""The errors of the API: one class for each, with its status and its sentence.

The sentences are part of the contract (docs/contract.md) and are written only here. Tests
repeat them literally.
"""

from typing import Any, ClassVar

from web.error_pages import RETRY_AFTER


class ApiError(Exception):
    """An error that is sent to the client in the envelope.

    `detail` becomes `data`: a string or an object, `{}` by default. `retry_after` (seconds)
    becomes the Retry-After header.
    """

    status: ClassVar[int] = 500
    sentence: ClassVar[str] = "Internal server error"
    retry_after: int | None = None

    def __init__(self, detail: str | dict[str, Any] | None = None) -> None:
        super().__init__(self.sentence)
        self.detail: str | dict[str, Any] = {} if detail is None else detail


# 400: invalid data or state


class BadRequest(ApiError):
    status = 400


class InvalidBody(BadRequest):
    sentence = "Invalid request body"


class UnknownHost(BadRequest):
    sentence = "Unknown host"


class ValidationFailed(BadRequest):
    sentence = "Validation failed"


class InvalidLoopId(BadRequest):
    sentence = "Invalid loop ID format"


class InvalidRequestId(BadRequest):
    sentence = "Invalid request ID format"


class InvalidEndpointId(BadRequest):
    sentence = "Invalid webhook endpoint ID format"


class TooManyEndpoints(BadRequest):
    sentence = "An account can have at most 5 webhook endpoints"


class RotationUnderWay(BadRequest):
    sentence = "The old secret of the last rotation is still valid"


class LoopNameRequired(BadRequest):
    sentence = "Loop name is required"


class LoopIconRequired(BadRequest):
    sentence = "Loop icon is required"


class NothingToUpdate(BadRequest):
    sentence = "At least one field must be provided for update"


class RequestTextRequired(BadRequest):
    sentence = "Request text is required"


class ImageUrlRequired(BadRequest):
    sentence = "Image URL is required when type is image"


class TimeoutRequired(BadRequest):
    sentence = "timeout_seconds is required for time-sensitive requests"


class InvalidResponseConfiguration(BadRequest):
    sentence = "Invalid response configuration"


class InvalidDefaultResponse(BadRequest):
    sentence = "Invalid default response"


class NoActiveMembers(BadRequest):
    sentence = "No active members found in the loop"


class NotCancellable(BadRequest):
    sentence = "Request cannot be cancelled in current state"


class NotCompleted(BadRequest):
    sentence = "Feedback can only be added to completed requests"


class NoReceipt(BadRequest):
    sentence = "Only approved requests have a receipt"


class ReceiptExpired(BadRequest):
    sentence = "Receipt has expired"


class GrantRefused(BadRequest):
    sentence = "Invalid grant"


class AnswerRefused(BadRequest):
    sentence = "Invalid answer"


# 401: the key (docs/contract.md, `auth`)


class Unauthorized(ApiError):
    status = 401


class MissingAuthorization(Unauthorized):
    sentence = "Missing Authorization header"


class KeyRequired(Unauthorized):
    sentence = "API key required"


class MalformedAuthorization(Unauthorized):
    sentence = "Invalid Authorization header format. Use 'Bearer <api_key>'"


class EmptyKey(Unauthorized):
    sentence = "Empty API key"


class InvalidKey(Unauthorized):
    sentence = "Invalid API key"


class InactiveKey(Unauthorized):
    sentence = "API key is inactive"


class InvalidReviewToken(Unauthorized):
    sentence = "Invalid review token"


class EndedReviewToken(Unauthorized):
    sentence = "Review token has expired or was revoked"


# 403: authenticated, but not allowed


class Forbidden(ApiError):
    status = 403


class ResourceDenied(Forbidden):
    sentence = "Access denied to this resource"


class LoopDenied(Forbidden):
    sentence = "Access denied to this loop"


class RequestDenied(Forbidden):
    sentence = "Access denied to this request"


class NotCreatorForRequest(Forbidden):
    sentence = "Only loop creators can create requests"


class NotCreatorForUpdate(Forbidden):
    sentence = "Only loop creator can update the loop"


class NotCreatorForDelete(Forbidden):
    sentence = "Only loop creator can delete the loop"


class NotCreatorForRemoval(Forbidden):
    sentence = "Only loop creator can remove members"


class CreatorStays(Forbidden):
    sentence = "Loop creator cannot remove themselves"


class NotAskedByPolicy(Forbidden):
    sentence = "The policy does not let you answer this request"


# 404, 405


class NotFound(ApiError):
    status = 404
    sentence = "Not found"


class LoopNotFound(NotFound):
    sentence = "Loop not found"


class RequestNotFound(NotFound):
    sentence = "Request not found"


class EndpointNotFound(NotFound):
    sentence = "Webhook endpoint not found"


class NotAMember(NotFound):
    sentence = "User is not a member of this loop"


class MethodNotAllowed(ApiError):
    status = 405
    sentence = "Method not allowed"


# 409: receipts


class AlreadyRedeemed(ApiError):
    status = 409
    sentence = "Receipt was already redeemed"


class DifferentArguments(ApiError):
    status = 409
    sentence = "Arguments differ from the approved ones"


class DifferentName(ApiError):
    status = 409
    sentence = "Name differs from the approved one"


# 409: exports


class ExportUnderWay(ApiError):
    status = 409
    sentence = "Another export is running"
    retry_after = 30


# 409: what a reviewer does


class StateConflict(ApiError):
    """`data` has the `status` of the request, and `claimed_by`: the id of a person or null."""

    status = 409


class NotClaimable(StateConflict):
    sentence = "Request cannot be claimed in current state"


class NotReleasable(StateConflict):
    sentence = "Request cannot be released in current state"


class NotAnswerable(StateConflict):
    sentence = "Request cannot be answered in current state"


# 409, 422: Idempotency-Key


class CallUnderWay(ApiError):
    status = 409
    sentence = "A call with this Idempotency-Key is still running"
    retry_after = 1


class IdempotencyKeyReused(ApiError):
    status = 422
    sentence = "Idempotency-Key was already used for another call"


# 429: the quota of the key


class RateLimited(ApiError):
    status = 429
    sentence = "API rate limit exceeded"

    def __init__(self, detail: dict[str, Any], *, retry_after: int) -> None:
        super().__init__(detail)
        self.retry_after = retry_after


class TooManyStreams(ApiError):
    status = 429
    sentence = "Too many event streams"
    retry_after = 30


# 500: `api.failures` has a sentence for each operation


class ServerFailure(ApiError):
    status = 500


# 503


class ServiceUnavailable(ApiError):
    status = 503
    sentence = "Service temporarily unavailable"
    retry_after = RETRY_AFTER
