"""The tools that ask people and wait for them: ask_human and get_answer."""

from collections.abc import Mapping
from typing import Any

from api.long_polling import MAX_SECONDS
from api.mcp import arguments, schemas
from api.mcp.answers import build_answer, build_schema, build_unread_answer
from api.mcp.arguments import Arguments
from api.mcp.errors import RpcError, ToolFailed
from api.mcp.exchange import Exchange
from api.mcp.tasks import build_task
from api.mcp.tools import READS, WRITES, Result, build_result
from api.openapi.operations import Schema
from api.requests import LoopRequests, RequestDetails
from reviews.lifecycle import states
from reviews.models import Request
from web.waiting import get_resumed

_ASKED = (
    "request_text",
    "response_type",
    "response_config",
    "default_response",
    "timeout_seconds",
    "priority",
    "context",
    "image_url",
    "metadata",
    "replaces",
    "policy",
)


class AskHuman:
    """Creates a request, and waits for its answer or hands it over as a task."""

    name = "ask_human"
    title = "Ask a person"
    description = (
        "Asks the people of a loop one question and returns the answer of whoever is first, or "
        "with `policy` what several answers come to. "
        "Give a default_response that is safe: it becomes the answer if nobody answers within "
        "timeout_seconds (30 days without it), and answered_by is then 'default'. If status is "
        "pending, nobody has answered yet: call get_answer. Give an idempotency_key, so that "
        "you find the question again after a crash."
    )
    annotations: Mapping[str, bool] = WRITES
    names = ("loop_id", *_ASKED, "idempotency_key", "wait")

    def build_input(self) -> Schema:
        body = schemas.build_new_request()
        properties = {
            **schemas.build_paths(LoopRequests, "POST"),
            **schemas.pick(body, _ASKED),
            "idempotency_key": schemas.IDEMPOTENCY_KEY,
            "wait": {
                **schemas.WAIT,
                "description": f"Seconds to wait for the answer at most; {MAX_SECONDS} without it.",
            },
        }
        properties["timeout_seconds"] = {
            **properties["timeout_seconds"],
            "description": "Seconds until the default_response becomes the answer.",
        }
        needed = ("loop_id", "request_text", "response_type", "default_response")
        return schemas.build_input(properties, required=needed)

    def build_output(self) -> Schema:
        return build_schema()

    def run(self, exchange: Exchange, given: Arguments) -> Result:
        arguments.check_names(given, self.names)
        wait = arguments.read_wait(given) or str(MAX_SECONDS)
        waiter = get_resumed(exchange.request.META)
        # a call that has waited is made again, and has created its request already
        request_id = waiter.topic if waiter else self._create(exchange, given)
        query = {} if exchange.revision.takes_tasks else {"wait": wait}
        try:
            request = exchange.call(
                RequestDetails, "GET", ids={"request_id": request_id}, query=query, is_free=True
            )["request"]
        except (RpcError, ToolFailed) as failure:  # as an error it would be asked again
            if failure.status >= 500 and waiter:
                exchange.trust_first_check()
            return build_result(build_unread_answer(request_id))
        if exchange.revision.takes_tasks and request["status"] in states.OPEN:
            return {"resultType": "task", **build_task(request)}
        return build_result(build_answer(request))

    def _create(self, exchange: Exchange, given: Arguments) -> str:
        exchange.check_permission("requests:read", needed_by=self.name)
        fields = {name: given[name] for name in _ASKED if given.get(name) is not None}
        body = {
            "processing_type": "time-sensitive" if "timeout_seconds" in fields else "deferred",
            "type": "image" if fields.get("image_url") else "markdown",
            "priority": Request.Priority.MEDIUM.value,
            "response_config": {},
            **fields,
            "platform": "api",
        }
        created = exchange.call(
            LoopRequests,
            "POST",
            ids={"loop_id": arguments.read_required(given, "loop_id")},
            body=body,
            key=arguments.read_idempotency_key(given),
        )
        return str(created["request_id"])


class GetAnswer:
    """Returns the answer to a request, or waits for it."""

    name = "get_answer"
    title = "Get the answer"
    description = (
        "Returns the answer to a question that was asked before. With wait it returns as soon as "
        "there is one. Looking is free of charge, unless you look at a question more often than "
        "every 5 seconds."
    )
    annotations: Mapping[str, bool] = READS

    def build_input(self) -> Schema:
        properties = {**schemas.build_paths(RequestDetails, "GET"), "wait": schemas.WAIT}
        return schemas.build_input(properties, required=["request_id"])

    def build_output(self) -> Schema:
        return build_schema()

    def run(self, exchange: Exchange, given: Arguments) -> Result:
        arguments.check_names(given, ("request_id", "wait"))
        request_id = arguments.read_required(given, "request_id")
        wait = arguments.read_wait(given)
        query: dict[str, Any] = {} if wait is None else {"wait": wait}
        data = exchange.call_or_poll(
            RequestDetails, request_id, ids={"request_id": request_id}, query=query
        )
        return build_result(build_answer(data["request"]))
