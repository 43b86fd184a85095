"""Compares calls over MCP with the same calls of the API, alternately on one server."""

import json
import statistics
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bench import api
from bench.cast import Cast
from bench.outcome import Goal, Part, table
from bench.serving import Load, Volley, Web, cpu_of, post

ROUNDS, SECONDS = 4, 2.0
REVISION = "2026-07-28"
TOOL = "tools/call"
META = {
    "io.modelcontextprotocol/protocolVersion": REVISION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}


@dataclass(frozen=True)
class Turn:
    """One volley, with the CPU of the web server and of the database in milliseconds per call."""

    volley: Volley
    web: float
    database: float


def calls(cast: Cast) -> dict[str, tuple[list[str], list[str]]]:
    """The calls of the API, each with the calls of the tool that does the same."""
    plain = api.calls(cast)
    owned = [(key, number) for number, keys in enumerate(cast.keys) for key in keys]
    reads = [
        build_call(key, "get_request", {"request_id": request_id})
        for key, number in owned
        for request_id in cast.polls[number][:20]
    ]
    question = {name: value for name, value in api.BODY.items() if name != "platform"}
    creates = [
        build_call(key, "create_request", {"loop_id": cast.loops[number], **question})
        for key, number in owned
    ]
    return {
        "get_request": (plain["poll"], reads[::7] + reads[::11] + reads[::13]),
        "create_request": (plain["create"], creates),
    }


def build_call(key: str, tool: str, arguments: Mapping[str, Any]) -> str:
    """Builds a call of a tool, as bytes on the wire."""
    params = {"_meta": META, "name": tool, "arguments": arguments}
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": REVISION,
        "Mcp-Method": TOOL,
        "Mcp-Name": tool,
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": TOOL, "params": params}
    return post("/mcp", key, body, headers)


def measure(web: Web, cast: Cast, load: Load, postmaster: int) -> Part:
    """Measures both sides alternately."""

    def turn(requests: list[str]) -> Turn:
        before, database = web.cpu(), cpu_of(postmaster)
        volley = load.fire(web.port, requests, seconds=SECONDS)
        each = 1000 / volley.calls
        return Turn(volley, (web.cpu() - before) * each, (cpu_of(postmaster) - database) * each)

    rows, goals = [], []
    for tool, (plain, agents) in calls(cast).items():
        check(web.port, agents[0])
        for requests in (plain, agents):
            load.fire(web.port, requests, seconds=1.0)  # warms up
        turns = [(turn(plain), turn(agents)) for _ in range(ROUNDS)]
        ratio = statistics.median(mcp.volley.rate / call.volley.rate for call, mcp in turns)
        rows.append(show(f"{tool}: the call of the API", [call for call, _ in turns], ""))
        rows.append(show(f"{tool}: the tool", [mcp for _, mcp in turns], f"{ratio:.2f}"))
        goals.append(Goal(f"MCP’s {tool} against the call of the API", 0.6, None, ratio))
    head = ["", "calls/s", "p50 / p99 ms", "CPU ms per call: web + database", "ratio"]
    return Part({"mcp": table(head, rows)}, goals)


def check(port: int, raw: str) -> None:
    """Raises RuntimeError if the tool reports an error, which has status 200."""
    head, _, body = raw.partition("\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.split("\r\n")[1:])
    del headers["Host"]
    call = urllib.request.Request(
        f"http://127.0.0.1:{port}/mcp", data=body.encode(), headers=headers
    )
    with urllib.request.urlopen(call) as response:
        answer = json.load(response)
    if "result" not in answer or answer["result"].get("isError"):
        raise RuntimeError(answer)


def show(name: str, turns: list[Turn], ratio: str) -> list[str]:
    def median(read: Callable[[Turn], float]) -> float:
        return statistics.median(map(read, turns))

    p50, p99 = median(lambda turn: turn.volley.p50), median(lambda turn: turn.volley.p99)
    web, database = median(lambda turn: turn.web), median(lambda turn: turn.database)
    return [
        name,
        f"{median(lambda turn: turn.volley.rate):,.0f}",
        f"{p50:.0f} / {p99:.0f}",
        f"{web:.2f} + {database:.2f}",
        ratio,
    ]
