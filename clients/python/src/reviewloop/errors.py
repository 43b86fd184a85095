"""The exceptions of this package. Each is a ReviewLoopError."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from reviewloop.answers import Answer


class ReviewLoopError(Exception):
    """Base of all exceptions of this package."""


class ConfigurationError(ReviewLoopError):
    """The address or the key of the service is missing or has the wrong form."""


class ConnectionFailed(ReviewLoopError):
    """The service was unreachable for as long as the client retried."""

    def __init__(self, sentence: str, *, may_pass: bool = True) -> None:
        super().__init__(sentence)
        self.may_pass = may_pass


class ApiError(ReviewLoopError):
    """The API refused the call. `msg` is its sentence, and `data` its details."""

    def __init__(self, status: int, msg: str, data: Any, retry_after: float | None = None) -> None:
        details = f": {data}" if data else ""
        super().__init__(f"{msg}{details} (HTTP {status})")
        self.status = status
        self.msg = msg
        self.data = data
        self.retry_after = retry_after  # seconds, where the API names them
        self.repeats = 0  # the number of earlier attempts


class InvalidCall(ApiError):
    """400: a field, an id, or a state that forbids the call."""


class Unauthorized(ApiError):
    """401: the key is missing, malformed, unknown or inactive."""


class Forbidden(ApiError):
    """403: the key lacks the permission, or its account the right."""


class NotFound(ApiError):
    """404: the loop, request or member does not exist."""


class CallUnderWay(ApiError):
    """409: the first call with this Idempotency-Key was still running at the last attempt."""


class ReceiptConflict(ApiError):
    """409: a receipt cannot be redeemed any more, or not with these arguments."""


class AlreadyRedeemed(ReceiptConflict):
    """409: the receipt was redeemed before, as `redeemed_at` says."""

    @property
    def redeemed_at(self) -> str:
        return str(self.data["redeemed_at"])


class ArgumentsDiffer(ReceiptConflict):
    """409: a person approved other arguments, or another call.

    `path` is the first argument that differs, or `name`.
    """

    @property
    def path(self) -> str:
        return str(self.data["path"])


class StateConflict(ApiError):
    """409: the request has ended, or somebody else has claimed it; `data` has its `status`."""


class KeyReused(ApiError):
    """422: this Idempotency-Key was used for another call."""


class RateLimited(ApiError):
    """429: the quota of this hour is used up; `retry_after` has the seconds to its end."""


class ServerFailed(ApiError):
    """500 and above, at every attempt."""


BY_STATUS: dict[int, type[ApiError]] = {
    400: InvalidCall,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: CallUnderWay,
    422: KeyReused,
    429: RateLimited,
}


def get_error_class(status: int, data: Any = None) -> type[ApiError]:
    """Returns the exception class of a response's status and `data`."""
    if status == 409 and isinstance(data, dict):
        if "redeemed_at" in data:
            return AlreadyRedeemed
        if "path" in data:
            return ArgumentsDiffer
        if "status" in data:
            return StateConflict
    return BY_STATUS.get(status) or (ServerFailed if status >= 500 else ApiError)


class LoopNotChosen(ReviewLoopError):
    """The loop is missing or ambiguous."""


class ResumeConflict(ReviewLoopError):
    """The name or file of `resume` belongs to another question."""


class Cancelled(ReviewLoopError):
    """The request was cancelled before anyone answered.

    `superseded_by` is the id of the version that replaced it, if one did.
    """

    def __init__(self, request_id: str, superseded_by: str | None = None) -> None:
        by = f"; {superseded_by} has replaced it" if superseded_by else ""
        super().__init__(f"Request {request_id} was cancelled{by}")
        self.request_id = request_id
        self.superseded_by = superseded_by


class DefaultUsed(ReviewLoopError):
    """No answer of people decided, and the caller wanted a person's answer."""

    REASONS: ClassVar = {
        "no_agreement": "The people who answered request {} did not agree",
        "unreachable": "Too few people were left to answer request {}",
        "default": "Too few people answered request {} in time",
    }

    def __init__(self, answer: Answer) -> None:
        sentence = self.REASONS.get(answer.default_reason, "Nobody answered request {} in time")
        super().__init__(sentence.format(answer.request_id))
        self.answer = answer


class InvalidSignature(ReviewLoopError):
    """The event was not signed with this secret, or it is too old."""


class InvalidReceipt(ReviewLoopError):
    """The receipt has no valid signature of these keys, has expired, or is for something else."""
