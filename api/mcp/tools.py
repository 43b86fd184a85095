"""The tools that are operations of the API, with their arguments named as there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from api.envelope import encode_json
from api.loops import LoopDetail, Loops
from api.mcp import arguments, schemas
from api.mcp.arguments import Arguments
from api.mcp.exchange import Exchange
from api.openapi.document import OPERATIONS
from api.openapi.operations import Operation, Schema
from api.requests import LoopRequests, RequestDetails, RequestFeedback, Requests
from api.views import ApiView

Result = dict[str, Any]
READS = {"readOnlyHint": True, "openWorldHint": False}
WRITES = {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": True}
ENDS = {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True}


class Tool(Protocol):
    """What a client can call by its name."""

    name: str
    title: str
    description: str
    annotations: Mapping[str, bool]

    def build_input(self) -> Schema:
        """Builds the schema of the arguments."""

    def build_output(self) -> Schema:
        """Builds the schema of the structured content."""

    def run(self, exchange: Exchange, given: Arguments) -> Result:
        """Returns the result of a call. Raises ToolFailed, RpcError."""


def describe(tool: Tool) -> dict[str, Any]:
    """Builds the entry of tools/list."""
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.build_input(),
        "outputSchema": tool.build_output(),
        "annotations": {"title": tool.title, **tool.annotations},
    }


def build_result(data: Mapping[str, Any]) -> Result:
    """Builds the result of a tool: structured, and as text for clients that read only that."""
    text = encode_json(data)
    return {"content": [{"type": "text", "text": text}], "structuredContent": dict(data)}


@dataclass
class ApiTool:
    """A tool that is one operation of the API.

    `fixed` are fields of the body that are the same for every agent. `hidden` are parameters that
    the tool does not have.
    """

    name: str
    title: str
    description: str
    annotations: Mapping[str, bool]
    view: type[ApiView]
    method: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    may_repeat: bool = False  # has an idempotency_key

    @property
    def operation(self) -> Operation:
        return OPERATIONS[self.view, self.method]

    @cached_property
    def query(self) -> dict[str, Schema]:
        given = self.operation.query
        return {each.name: each.schema for each in given if each.name not in self.hidden}

    @cached_property
    def fields(self) -> list[str]:
        """The names of the fields of the body."""
        body = self.operation.body
        names = map(str, body.serializer().fields) if body else ()
        return [name for name in names if name not in self.hidden]

    @cached_property
    def names(self) -> list[str]:
        key = ["idempotency_key"] if self.may_repeat else []
        return [*self.operation.paths, *self.query, *self.fields, *key]

    def build_input(self) -> Schema:
        body = schemas.build_body(self.view, self.method) if self.fields else {}
        properties = schemas.build_paths(self.view, self.method)
        described = schemas.build_query(self.view, self.method)
        properties |= {name: described[name] for name in self.query}
        if body:
            properties |= schemas.pick(body, self.fields)
        if self.may_repeat:
            properties["idempotency_key"] = schemas.IDEMPOTENCY_KEY
        needed = {*self.operation.paths, *body.get("required", ())}
        return schemas.build_input(properties, required=needed & properties.keys())

    def build_output(self) -> Schema:
        return schemas.build_output(self.view, self.method)

    def run(self, exchange: Exchange, given: Arguments) -> Result:
        arguments.check_names(given, self.names)
        ids = {name: arguments.read_required(given, name) for name in self.operation.paths}
        query = {name: self._read_parameter(given, name) for name in self.query}
        body = {name: given[name] for name in self.fields if name in given}
        data = exchange.call(
            self.view,
            self.method,
            ids=ids,
            query=flatten(query),
            body={**body, **self.fixed},
            key=arguments.read_idempotency_key(given) if self.may_repeat else None,
        )
        return build_result(data)

    def _read_parameter(self, given: Arguments, name: str) -> str | dict[str, str] | None:
        if self.query[name].get("type") == "object":
            return arguments.read_texts(given, name)
        if self.query[name].get("type") == "integer":
            return arguments.read_digits(given, name)
        return arguments.read_text(given, name)


def flatten(query: Mapping[str, str | dict[str, str] | None]) -> dict[str, str]:
    """Returns the parameters of a query string; those of an object are `name[key]`."""
    flat: dict[str, str] = {}
    for name, value in query.items():
        if isinstance(value, dict):
            flat |= {f"{name}[{key}]": each for key, each in value.items()}
        elif value is not None:
            flat[name] = value
    return flat


API_TOOLS: tuple[Tool, ...] = (
    ApiTool(
        "list_loops",
        "List loops",
        "Lists the loops of the account: the groups of people who can be asked.",
        READS,
        Loops,
        "GET",
    ),
    ApiTool(
        "get_loop",
        "Read a loop",
        "Reads one loop, with how many people are in it.",
        READS,
        LoopDetail,
        "GET",
    ),
    ApiTool(
        "create_request",
        "Create a request",
        "Sends a question to the people of a loop and returns at once, with every setting of the "
        "API. ask_human is simpler, and waits for the answer.",
        WRITES,
        LoopRequests,
        "POST",
        fixed={"platform": "api"},
        hidden=("platform", "platform_version"),
        may_repeat=True,
    ),
    ApiTool(
        "list_requests",
        "List requests",
        "Lists the requests that the account has created, newest first unless sort says otherwise.",
        READS,
        Requests,
        "GET",
    ),
    ApiTool(
        "get_request",
        "Read a request",
        "Reads everything about one request. To wait for its answer, use get_answer.",
        READS,
        RequestDetails,
        "GET",
        hidden=("wait",),
    ),
    ApiTool(
        "cancel_request",
        "Cancel a request",
        "Takes a question back that nobody has begun to answer.",
        ENDS,
        RequestDetails,
        "DELETE",
    ),
    ApiTool(
        "add_feedback",
        "Give feedback",
        "Tells how useful an answer was. New feedback replaces the old.",
        {**WRITES, "idempotentHint": True},
        RequestFeedback,
        "POST",
    ),
)
