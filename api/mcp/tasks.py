"""A request as a task of the extension io.modelcontextprotocol/tasks. Their ids are the same."""

from collections.abc import Callable
from typing import Any, Final

from accounts.free_polls import INTERVAL_SECONDS
from api.errors import NotCancellable
from api.mcp.answers import build_answer
from api.mcp.approvals import find_reason
from api.mcp.errors import INTERNAL_ERROR, INVALID_PARAMS, RpcError, ToolFailed, build_access_error
from api.mcp.exchange import Exchange
from api.mcp.tools import build_result
from api.requests import RequestDetails
from reviews import policy
from reviews.lifecycle import states

_STATUSES: Final = {
    states.PENDING: ("working", "Waiting for a person to answer."),
    states.CLAIMED: ("working", "A person is answering."),
    states.COMPLETED: ("completed", "A person has answered."),
    states.TIMEOUT: ("completed", "Nobody answered in time. The default response applies."),
    states.CANCELLED: ("cancelled", "The question was taken back."),
}
_OUTCOMES: Final = {
    policy.VETOED: "The answer of one person was a veto, which ended the question.",
    policy.NO_AGREEMENT: "The people who answered did not agree. The default response applies.",
    policy.UNREACHABLE: "Too few people were left to answer. The default response applies.",
    policy.DEFAULT: "Too few people answered in time. The default response applies.",
}


def build_task(request: dict[str, Any]) -> dict[str, Any]:
    """Builds the task of a request, with the answer once there is one.

    A deadline completes it: the default response is its result.
    """
    status, message = _STATUSES[request["status"]]
    message = _OUTCOMES.get(find_reason(request), message)
    task = {
        "taskId": request["id"],
        "status": status,
        "statusMessage": message,
        "createdAt": request["created_at"],
        "lastUpdatedAt": request["updated_at"],
        "ttlMs": None,
        "pollIntervalMs": INTERVAL_SECONDS * 1000,
    }
    if status == "completed":
        task["result"] = {"resultType": "complete", **build_result(build_answer(request))}
    return task


def get_task(exchange: Exchange, params: dict[str, Any]) -> dict[str, Any]:
    """tasks/get: free of charge, no faster than the interval that is named."""
    task_id = read_task_id(exchange, params)
    ids = {"request_id": task_id}
    data = translate(lambda: exchange.call_or_poll(RequestDetails, task_id, ids=ids))
    return build_task(data["request"])


def update_task(exchange: Exchange, params: dict[str, Any]) -> dict[str, Any]:
    """tasks/update: no task asks its client for anything, so there is nothing to take."""
    ids = {"request_id": read_task_id(exchange, params)}
    translate(lambda: exchange.call(RequestDetails, "GET", ids=ids))
    return {}


def cancel_task(exchange: Exchange, params: dict[str, Any]) -> dict[str, Any]:
    """tasks/cancel: takes the question back, unless somebody answers or has answered it."""
    ids = {"request_id": read_task_id(exchange, params)}

    def cancel() -> dict[str, Any]:
        try:
            return exchange.call(RequestDetails, "DELETE", ids=ids)
        except ToolFailed as failed:
            if failed.status == 400 and failed.sentence == NotCancellable.sentence:
                return {}
            raise

    translate(cancel)
    return {}


def read_task_id(exchange: Exchange, params: dict[str, Any]) -> str:
    """Reads the id of a task. Raises RpcError."""
    exchange.revision.require_tasks()
    task_id = params.get("taskId")
    if not isinstance(task_id, str):
        raise RpcError(INVALID_PARAMS, "taskId must be a string")
    return task_id


def translate(call: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Returns what the call returns; its failure becomes an error of JSON-RPC."""
    try:
        return call()
    except ToolFailed as failed:
        if failed.status >= 500:
            raise RpcError(INTERNAL_ERROR, failed.format(), status=failed.status) from None
        if failed.status == 429:
            raise build_access_error(failed.sentence, failed.detail, status=429) from None
        raise RpcError(INVALID_PARAMS, failed.format()) from None
