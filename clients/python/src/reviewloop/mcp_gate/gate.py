"""Holds calls of tools back until people have decided about them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, TypeVar, cast

import anyio
from anyio.abc import TaskGroup
from anyio.to_thread import run_sync
from mcp_types.jsonrpc import (
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from reviewloop.errors import ReviewLoopError
from reviewloop.mcp_gate.links import Approval, Links, read_cancelled
from reviewloop.mcp_gate.messages import build_result, find_fault, read_envelope, read_meta
from reviewloop.mcp_gate.questions import Declined, Questions, Tool
from reviewloop.mcp_gate.rules import Rules
from reviewloop.transport import log

PROGRESS_SECONDS = 5.0  # hosts give up after 60 without any
STEP = 1e-6  # of the progress: the server's own, which follows, begins at 0 and has to be higher
CANCEL_SECONDS = 3.0  # to take a question back before the process ends
MOST_QUESTIONS = 100  # open at the same time; further calls wait for a place

T = TypeVar("T")


class Gate:
    """Lets calls through that the rules or people allow."""

    def __init__(self, links: Links, questions: Questions, rules: Rules, tasks: TaskGroup) -> None:
        self._links, self._questions, self._rules, self._tasks = links, questions, rules, tasks
        self._held: dict[RequestId, anyio.CancelScope] = {}
        self._places = anyio.CapacityLimiter(MOST_QUESTIONS)
        # A thread that nobody waits for any more ends with its call; there is room for those too.
        self._threads = anyio.CapacityLimiter(3 * MOST_QUESTIONS)

    async def pass_to_server(self) -> None:
        """Passes what the host sends, until its connection ends."""
        async for item in self._links.host_read:
            if isinstance(item, Exception):
                await self._links.refuse_garbage(item)
            else:
                await self._pass(item.message)

    async def _pass(self, message: JSONRPCMessage) -> None:
        cancelled = read_cancelled(message)
        if cancelled is not None:
            self._links.forget(cancelled)
            if scope := self._held.get(cancelled):
                scope.cancel()
                return
        if isinstance(message, JSONRPCRequest):
            if message.id in self._links.unanswered:
                log.warning("The host sent request %r again; it is under way", message.id)
                return
            self._links.unanswered[message.id] = message.method
            if message.method == "tools/call":
                self._held[message.id] = scope = anyio.CancelScope()
                self._tasks.start_soon(self._hold, message, scope)
                return
        elif is_call_without_id(message):
            log.warning("The host sent a message that is no notification without an id: dropped")
            return
        await self._links.send_upstream(message)

    async def _hold(self, request: JSONRPCRequest, scope: anyio.CancelScope) -> None:
        """Decides about a call, and sends it on or answers it."""
        with scope:
            try:
                declined = await self._decide(request)
            except Exception as error:  # whatever it is, it is no yes
                log.warning("The call of request %r was not made: %r", request.id, error)
                declined = Declined(f"The call was not made: {error}")
            if declined is not None:
                result = build_result(declined.sentence, is_error=not declined.is_reply)
                response = JSONRPCResponse(jsonrpc="2.0", id=request.id, result=result)
                await self._links.answer(response)
        if self._held.get(request.id) is scope:
            del self._held[request.id]

    async def _decide(self, request: JSONRPCRequest) -> Declined | None:
        """Sends an allowed call to the server; returns why another one is not allowed."""
        params = request.params or {}
        if fault := find_fault(params):
            return Declined(f"The call was not made: {fault}")
        name = params["name"]
        verdict = self._rules.judge(name)
        if verdict == "refuse":
            return Declined(f"The rules of this gate refuse {name}, so the call was not made.")
        # Of a call that passes only the headers of the newer protocol need what is listed.
        is_needed = verdict != "pass" or bool(read_envelope(params))
        tool = await self._find_tool(name, params) if is_needed else None
        if verdict == "pass" or (verdict is None and tool is not None and is_read_only(tool)):
            await self._send(request, tool)
            return None
        if approval := self._links.find_round(params):
            await self._send_approved(request, approval, tool)
            return None
        if tool is None:
            return Declined(f"The call was not made: the server lists no tool {name!r}")
        return await self._ask(request, tool)

    async def _ask(self, request: JSONRPCRequest, tool: Tool) -> Declined | None:
        """Asks people about a call. One approval lets one call through."""
        params = request.params or {}
        call = self._questions.prepare(self._links.server, params, tool)
        async with self._progress(params), self._places:
            request_id = await self._in_thread(self._questions.ask, call)
            log.info("Asked: request %s", request_id)
            async with self._withdrawing(request_id):
                decision = await self._in_thread(
                    self._questions.decide, request_id, call, may_be_left=True
                )
        if isinstance(decision, Declined):
            if decision.is_reply and tool.get("outputSchema"):
                # A host refuses a result without the tool's structure, unless it is an error.
                return Declined(f"A person replied instead of running it: {decision.sentence}")
            return decision
        if await self._find_tool(call.name, params) != tool:
            return Declined(
                "The server changed this tool while a person decided, so the call was not made."
            )
        redeem = self._questions.redeem
        await self._in_thread(redeem, request_id, call.name, decision.shown)
        approval = Approval(call.name, call.arguments, decision.arguments, decision.notice)
        await self._send_approved(request, approval, tool)
        return None

    async def _send_approved(
        self, request: JSONRPCRequest, approval: Approval, tool: Tool | None
    ) -> None:
        """Sends an approved call with its arguments, and nothing else of it changed."""
        params = {**(request.params or {}), "arguments": approval.arguments}
        self._links.approvals[request.id] = approval
        await self._send(request.model_copy(update={"params": params}), tool)

    async def _send(self, request: JSONRPCRequest, tool: Tool | None) -> None:
        self._held.pop(request.id, None)  # from now on the server cancels it
        await self._links.send_upstream(request, tool)

    async def _find_tool(self, name: str, like: Mapping[str, Any]) -> Tool | None:
        """Reads how the server now lists a tool. Raises UpstreamFailed.

        It is read for each call: a server may change its tools without saying so.
        """
        params: dict[str, Any] = {}
        while True:
            listed = await self._links.ask_upstream("tools/list", params, like)
            for tool in listed.get("tools") or ():
                if tool.get("name") == name:
                    return cast("Tool", tool)
            if not listed.get("nextCursor"):
                return None
            params = {"cursor": listed["nextCursor"]}

    async def _in_thread(
        self, function: Callable[..., T], *arguments: Any, may_be_left: bool = False
    ) -> T:
        return await run_sync(
            function, *arguments, limiter=self._threads, abandon_on_cancel=may_be_left
        )

    @asynccontextmanager
    async def _withdrawing(self, request_id: str) -> AsyncIterator[None]:
        """Cancels the question if the wait for its decision ends early."""
        try:
            yield
        except BaseException:
            with anyio.move_on_after(CANCEL_SECONDS, shield=True):
                try:
                    await self._in_thread(self._questions.withdraw, request_id, may_be_left=True)
                except ReviewLoopError as error:
                    log.warning("Request %s stays open: %s", request_id, error)
            raise

    @asynccontextmanager
    async def _progress(self, params: Mapping[str, Any]) -> AsyncIterator[None]:
        """Sends the host notifications of progress meanwhile, if it asked for them."""
        token = read_meta(params).get("progressToken")
        scope = anyio.CancelScope()
        if token is not None:
            self._tasks.start_soon(self._report, token, scope)
        try:
            yield
        finally:
            scope.cancel()

    async def _report(self, token: Any, scope: anyio.CancelScope) -> None:
        with scope:
            for number in count(1):
                params = {
                    "progressToken": token,
                    "progress": number * STEP,
                    "message": "Waiting for a person to decide",
                }
                await self._links.send_host(
                    JSONRPCNotification(
                        jsonrpc="2.0", method="notifications/progress", params=params
                    )
                )
                await anyio.sleep(PROGRESS_SECONDS)


def is_call_without_id(message: JSONRPCMessage) -> bool:
    """Tells whether a server could run a message for which the protocol has no answer."""
    return isinstance(message, JSONRPCNotification) and not message.method.startswith(
        "notifications/"
    )


def is_read_only(tool: Tool) -> bool:
    return (tool.get("annotations") or {}).get("readOnlyHint") is True
