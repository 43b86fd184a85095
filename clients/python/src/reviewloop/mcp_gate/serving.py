"""Runs the gate between the host's standard input and output and one MCP server."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, cast

import anyio
import httpx2
from anyio.abc import TaskGroup
from anyio.to_thread import run_sync
from mcp import StdioServerParameters, stdio_client, stdio_server
from mcp.client.streamable_http import streamable_http_client

from reviewloop.client import Client
from reviewloop.mcp_gate.gate import Gate
from reviewloop.mcp_gate.links import Links
from reviewloop.mcp_gate.questions import Questions
from reviewloop.mcp_gate.rules import Rules
from reviewloop.transport import log

CONNECT_SECONDS = 30.0
OWN = "REVIEW_LOOP_"  # variables of the gate, which the server does not get
FAILED = 1
ENDED = "The server behind the gate has ended"
Upstream = AbstractAsyncContextManager[Any]


def serve(client: Client, rules: Rules, upstream: Upstream) -> int:
    """Serves until the host leaves, a signal comes, or the server ends; returns the exit code."""
    try:
        return anyio.run(run, Questions(client, rules), rules, upstream)
    except Exception as error:
        reasons = list(find_reasons(error))
        if all(isinstance(each, (OSError, httpx2.HTTPError)) for each in reasons):
            sentences = "; ".join(str(each) or type(each).__name__ for each in reasons)
            log.error("The server behind the gate cannot be reached: %s", sentences)
        else:
            log.exception("The gate has failed")
        return FAILED


async def run(questions: Questions, rules: Rules, upstream: Upstream) -> int:
    lines = Lines()
    host = stdio_server(cast("Any", lines))
    async with upstream as (up_read, up_write), host as (host_read, host_write):
        links = Links(host_read, host_write, up_read, up_write)
        async with anyio.create_task_group() as tasks:
            gate = Gate(links, questions, rules, tasks)
            ending = Ending(tasks)
            tasks.start_soon(ending.with_signal)
            tasks.start_soon(ending.with_server, links)
            await gate.pass_to_server()
            tasks.cancel_scope.cancel()
        lines.close()
        await host_read.aclose()
        await host_write.aclose()  # once what is in it is written
    return ending.code


class Ending:
    """Ends the gate's tasks, each of which then cancels its question."""

    def __init__(self, tasks: TaskGroup) -> None:
        self.code = 0
        self._tasks = tasks

    async def with_signal(self) -> None:
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            async for number in signals:
                self._end(128 + number)

    async def with_server(self, links: Links) -> None:
        await links.pass_to_host()
        log.error(ENDED)
        await links.fail_all(ENDED)
        self._end(FAILED)

    def _end(self, code: int) -> None:
        self.code = self.code or code
        self._tasks.cancel_scope.cancel()


class Lines:
    """The lines of standard input, until `close`.

    The reader of anyio would wait for one more line of the host before it ends.
    """

    def __init__(self) -> None:
        self._file = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace")
        self._reading = anyio.CancelScope()

    def __aiter__(self) -> Lines:
        return self

    async def __anext__(self) -> str:
        if not self._reading.cancel_called:
            with anyio.CancelScope() as self._reading:
                if line := await run_sync(self._file.readline, abandon_on_cancel=True):
                    return line
        raise StopAsyncIteration

    def close(self) -> None:
        self._reading.cancel()


def start_command(command: Sequence[str]) -> Upstream:
    """Starts a server with the environment of the gate, without REVIEW_LOOP_KEY and the like."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(OWN)}
    return stdio_client(
        StdioServerParameters(command=command[0], args=list(command[1:]), env=environment)
    )


@asynccontextmanager
async def connect_to_address(url: str, headers: Mapping[str, str]) -> AsyncIterator[Any]:
    """Connects to a server with Streamable HTTP. Calls have no time-out."""
    timeout = httpx2.Timeout(CONNECT_SECONDS, read=None)
    http = httpx2.AsyncClient(headers=dict(headers), timeout=timeout)
    async with http, streamable_http_client(url, http_client=http) as streams:
        yield streams


def find_reasons(error: BaseException) -> Iterator[BaseException]:
    """Yields the exceptions of nested groups."""
    members = getattr(error, "exceptions", None)
    if members is None:
        yield error
    for member in members or ():
        yield from find_reasons(member)
