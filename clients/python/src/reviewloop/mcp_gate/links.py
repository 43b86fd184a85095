"""The connections to the agent's host and to the server, and what passes between them unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp.shared.message import MessageMetadata, SessionMessage
from mcp_types import SERVER_INFO_META_KEY, ErrorData
from mcp_types.jsonrpc import (
    CONNECTION_CLOSED,
    PARSE_ERROR,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from reviewloop.mcp_gate.messages import (
    add_notice,
    build_metadata,
    negotiated_metadata,
    read_envelope,
    read_meta,
)
from reviewloop.transport import log
from reviewloop.unique import new_key

Response = JSONRPCResponse | JSONRPCError  # of Python 3.10, as all that imports mcp


class UpstreamFailed(Exception):
    """The server responded to a request of the gate with an error."""


@dataclass(frozen=True)
class Approval:
    """An approved call. `given` are the arguments of the host, `arguments` those that may run."""

    name: str
    given: dict[str, Any]
    arguments: dict[str, Any]
    notice: str | None


@dataclass
class Waiter:
    """A request that the gate itself sent, and its response once it has arrived."""

    done: anyio.Event = field(default_factory=anyio.Event)
    response: Response | None = None


class Links:
    """The two connections, and the requests of the host that are unanswered."""

    def __init__(self, host_read: Any, host_write: Any, up_read: Any, up_write: Any) -> None:
        self.host_read, self.up_read = host_read, up_read
        self._host_write, self._up_write = host_write, up_write
        self.unanswered: dict[RequestId, str] = {}  # with their methods
        self.approvals: dict[RequestId, Approval] = {}  # of those that the server runs now
        self._rounds: dict[str, Approval] = {}  # of those where it asks the host back
        self.server = ""
        self._version: str | None = None
        self._own: dict[RequestId, Waiter] = {}

    async def send_host(self, message: JSONRPCMessage) -> None:
        await self._host_write.send(SessionMessage(message))

    async def answer(self, response: Response) -> None:
        """Sends the host a response, unless it has cancelled the request."""
        if response.id is not None and self.unanswered.pop(response.id, None) is not None:
            await self.send_host(response)

    async def send_upstream(
        self, message: JSONRPCMessage, tool: Mapping[str, Any] | None = None
    ) -> None:
        metadata: MessageMetadata
        if isinstance(message, JSONRPCRequest):
            metadata = build_metadata(message, self._version, tool)
        else:
            metadata = negotiated_metadata(self._version)
        await self._up_write.send(SessionMessage(message, metadata))

    async def ask_upstream(
        self, method: str, params: dict[str, Any], like: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """Sends a request of the gate itself, with the sender of the call whose params are `like`.

        Raises UpstreamFailed.
        """
        if envelope := read_envelope(like):
            params = {**params, "_meta": envelope}
        own_id, waiter = f"gate-{new_key()}", Waiter()
        self._own[own_id] = waiter
        try:
            await self.send_upstream(
                JSONRPCRequest(jsonrpc="2.0", id=own_id, method=method, params=params)
            )
            await waiter.done.wait()
        finally:
            del self._own[own_id]
        if isinstance(waiter.response, JSONRPCResponse):
            return waiter.response.result
        assert waiter.response is not None
        raise UpstreamFailed(waiter.response.error.message)

    async def pass_to_host(self) -> None:
        """Passes what the server sends, until its connection ends."""
        async for item in self.up_read:
            if isinstance(item, Exception):
                log.warning("The server sent what is no message: %s", item)
            elif isinstance(item.message, (JSONRPCResponse, JSONRPCError)):
                await self._pass_response(item.message)
            else:
                await self.send_host(item.message)

    async def _pass_response(self, response: Response) -> None:
        if response.id is None:
            await self.send_host(response)
            return
        if isinstance(response, JSONRPCResponse):
            self._learn(self.unanswered.get(response.id), response.result)
        if waiter := self._own.get(response.id):
            waiter.response = response
            waiter.done.set()
            return
        if approval := self.approvals.pop(response.id, None):
            response = self._close(response, approval)
        await self.answer(response)

    def _close(self, response: Response, approval: Approval) -> Response:
        """Adds the notice to the result of an approved call, unless the server asks back first."""
        if (state := find_state(response)) is not None:
            self._rounds[state] = approval
            return response
        return add_notice(response, approval.notice) if approval.notice else response

    def find_round(self, params: Mapping[str, Any]) -> Approval | None:
        """Returns the approval of a call about which the server asked back, and forgets it.

        The host sends such a call again, with the state that it got from the server.
        """
        state, call = params.get("requestState"), (params["name"], params.get("arguments") or {})
        approval = self._rounds.get(state) if isinstance(state, str) else None
        if approval is None or (approval.name, approval.given) != call:
            return None
        return self._rounds.pop(str(state))

    def _learn(self, method: str | None, result: Mapping[str, Any]) -> None:
        """Reads the server's name, and the version of the protocol that it chose."""
        info = result.get("serverInfo") or read_meta(result).get(SERVER_INFO_META_KEY)
        if isinstance(info, dict) and isinstance(info.get("name"), str):
            self.server = info["name"]
        if method == "initialize" and isinstance(result.get("protocolVersion"), str):
            self._version = result["protocolVersion"]

    def forget(self, request_id: RequestId) -> None:
        """Forgets a request that the host has cancelled."""
        self.unanswered.pop(request_id, None)
        self.approvals.pop(request_id, None)

    async def refuse_garbage(self, error: Exception) -> None:
        log.warning("The host sent what is no message: %s", error)
        sentence = ErrorData(code=PARSE_ERROR, message="The message is no JSON-RPC message")
        await self.send_host(JSONRPCError(jsonrpc="2.0", id=None, error=sentence))

    async def fail_all(self, sentence: str) -> None:
        """Responds to every unanswered request with an error."""
        for request_id in list(self.unanswered):
            error = ErrorData(code=CONNECTION_CLOSED, message=sentence)
            await self.answer(JSONRPCError(jsonrpc="2.0", id=request_id, error=error))


def find_state(response: Response) -> str | None:
    """Returns the state with which the server asks back; None for another response."""
    if not isinstance(response, JSONRPCResponse):
        return None
    state = response.result.get("requestState")
    is_round = response.result.get("resultType") == "input_required"
    return state if is_round and isinstance(state, str) else None


def read_cancelled(message: JSONRPCMessage) -> RequestId | None:
    """Returns the id of the request that a notification cancels."""
    if isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
        request_id = (message.params or {}).get("requestId")
        if isinstance(request_id, (int, str)):
            return request_id
    return None
