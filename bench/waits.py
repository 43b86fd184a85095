"""Measures two thousand calls that wait for their answer, with concurrent polls.

The callers have separate connections and several keys. Requests end one after the other, each with
ten callers. The delay of a caller counts from the sending of the cancel to the response.
"""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from bench import api
from bench.cast import Cast
from bench.open_connections import Labels, Trial, cancel, delays_of, wait_for
from bench.outcome import Part
from bench.serving import Load, Web, get, post

WAITERS, REQUESTS = 2_000, 200
WAIT = 50  # seconds; then a caller calls again
LABELS = Labels(
    part="waits",
    connections="calls that wait",
    short="waits",
    notified="from the ending to its ten callers",
    goal="from the ending to those who wait",
)


async def exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, raw: str
) -> tuple[bytes, str]:
    """Sends a call and returns the head in lower case and the body of the response."""
    writer.write(raw.encode())
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    body = await reader.readexactly(int(read_header(head, b"content-length")))
    return head, body.decode()


async def call(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, raw: str) -> str:
    """Sends a call and returns the body of the response."""
    _, body = await exchange(reader, writer, raw)
    return body


def read_header(head: bytes, name: bytes) -> str:
    return head.partition(name + b": ")[2].partition(b"\r\n")[0].decode()


@dataclass
class Crowd:
    """The callers that wait. They live in a thread with an event loop."""

    port: int
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    known: dict[str, list[float]] = field(default_factory=dict)  # the times, by request
    tasks: "list[asyncio.Task[None]]" = field(default_factory=list)
    refused: int = 0

    async def wait(self, path: str, key: str) -> None:
        """Calls until the request has ended."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        while True:
            body = await call(reader, writer, get(f"{path}?wait={WAIT}", key))
            request = json.loads(body)["data"]["request"]
            if request["status"] not in ("pending", "claimed"):
                break
            self.refused += 1
        self.known.setdefault(request["id"], []).append(time.perf_counter())
        writer.close()

    def add(self, path: str, key: str) -> None:
        """Starts a caller and keeps a reference to it: the event loop has only weak ones."""

        def start() -> None:
            self.tasks.append(self.loop.create_task(self.wait(path, key)))

        self.loop.call_soon_threadsafe(start)

    def count(self) -> int:
        """Returns the number of callers with a result."""
        return sum(map(len, self.known.values()))


@contextmanager
def crowd(port: int) -> Iterator[Crowd]:
    made = Crowd(port)
    thread = threading.Thread(target=made.loop.run_forever, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.loop.call_soon_threadsafe(made.loop.stop)
        thread.join()


def ask(port: int, raw: str) -> dict[str, str]:
    """Sends one call and returns its `data`."""

    async def send() -> str:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        body = await call(reader, writer, raw)
        writer.close()
        return body

    data: dict[str, str] = json.loads(asyncio.run(send()))["data"]
    return data


def count_calls(port: int, keys: list[str]) -> int:
    """Returns how many calls the keys have been charged with. An unknown path costs nothing."""

    async def read(key: str) -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head, _ = await exchange(reader, writer, get("/v1/nothing", key))
        writer.close()
        limit, remaining = (
            int(read_header(head, b"x-ratelimit-" + name)) for name in (b"limit", b"remaining")
        )
        return limit - remaining

    return sum(asyncio.run(read(key)) for key in keys)


def measure(web: Web, cast: Cast, load: Load) -> Part:
    """Measures polls without and with waiting callers, then the delays of the callers."""
    trial = Trial(web, cast, load)
    keys, account = cast.keys[0], cast.loops[0]
    key = keys[0]
    made = [
        ask(web.port, post(f"/v1/api/loops/{account}/requests", key, api.BODY))["request_id"]
        for _ in range(REQUESTS)
    ]
    with crowd(web.port) as waiting:
        begun, charged = time.perf_counter(), count_calls(web.port, keys)
        for number in range(WAITERS):
            path = f"/v1/api/requests/{made[number % REQUESTS]}"
            waiting.add(path, keys[number % len(keys)])

        def count_seated() -> int:
            return count_calls(web.port, keys) - charged

        wait_for(lambda: count_seated() >= WAITERS, lambda: f"only {count_seated()} are waiting")
        trial.measure_with_connections()
        sent = cancel(ask, web.port, ((request_id, key) for request_id in made))
        wait_for(
            lambda: waiting.count() >= WAITERS,
            lambda: f"only {waiting.count()} of {WAITERS} callers were told",
        )
        is_early = time.perf_counter() - begun < WAIT
    if waiting.refused and is_early:
        raise RuntimeError(f"{waiting.refused} calls were answered before their request ended")
    return trial.report(WAITERS, LABELS, delays_of(sent, waiting.known))
