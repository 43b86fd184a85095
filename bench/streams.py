"""Measures two hundred streams of events, beside polls.

Each account has as many streams. Then its requests are cancelled, one after the other. The time
until a stream has the event counts from when the cancel is sent.
"""

import asyncio
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from bench import api
from bench.cast import Cast
from bench.memory import megabytes
from bench.outcome import Goal, Part, table
from bench.serving import Load, Web, get, post
from bench.waits import PAUSE, ROUNDS, SECONDS, ask, wait_for

STREAMS, EVENTS = 200, 200
PATH = "/v1/api/events"
DATA = b"data: "


@dataclass
class Listeners:
    """The clients that read streams. They live in a thread with an event loop."""

    port: int
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    open: int = 0
    known: dict[bytes, list[float]] = field(default_factory=dict)  # the times, by request

    async def listen(self, key: str) -> None:
        """Reads a stream, and notes when events of requests arrive."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**20)
        writer.write(get(PATH, key).encode())
        if b" 200 " not in await reader.readline():
            raise RuntimeError("a stream was refused")
        await reader.readuntil(b"id: ")
        self.open += 1
        while line := await reader.readline():
            if line.startswith(DATA):
                request_id = line.partition(b'"request_id":"')[2][:24]
                self.known.setdefault(request_id, []).append(time.perf_counter())

    def add(self, key: str) -> None:
        self.loop.call_soon_threadsafe(lambda: self.loop.create_task(self.listen(key)))

    def end(self) -> None:
        """Ends the streams, and then the loop."""
        for task in asyncio.all_tasks(self.loop):
            task.cancel()
        self.loop.call_soon(self.loop.stop)

    def count(self) -> int:
        """Returns how many events have arrived."""
        return sum(map(len, self.known.values()))


@contextmanager
def listeners(port: int) -> Iterator[Listeners]:
    made = Listeners(port)
    thread = threading.Thread(target=made.loop.run_forever, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.loop.call_soon_threadsafe(made.end)
        thread.join()


def measure(web: Web, cast: Cast, load: Load) -> Part:
    """Measures polls without and with streams, then how soon these have events."""
    polls = api.calls(cast)["poll"]

    def rate() -> float:
        return statistics.median(
            load.fire(web.port, polls, seconds=SECONDS).rate for _ in range(ROUNDS)
        )

    def memory() -> float:
        return sum(map(megabytes, web.workers()))

    rate()  # warms up
    alone, before = rate(), memory()
    with listeners(web.port) as open_streams:
        accounts = len(cast.keys)
        for number in range(STREAMS):
            keys = cast.keys[number % accounts]
            open_streams.add(keys[number // accounts % len(keys)])
        wait_for(
            lambda: open_streams.open == STREAMS,
            lambda: f"only {open_streams.open} of {STREAMS} streams have begun",
        )
        beside, grown = rate(), memory() - before
        delays = end(web.port, cast, open_streams)
    return report(alone, beside, grown, delays)


def end(port: int, cast: Cast, open_streams: Listeners) -> list[float]:
    """Cancels requests of all accounts; returns the seconds until each stream had the event."""
    made = []
    for number in range(EVENTS):
        account = number % len(cast.keys)
        key, path = cast.keys[account][0], f"/v1/api/loops/{cast.loops[account]}/requests"
        made.append((ask(port, post(path, key, api.BODY))["request_id"], key))
    sent = {}
    for request_id, key in made:
        sent[request_id.encode()] = time.perf_counter()
        ask(port, get(f"/v1/api/requests/{request_id}", key).replace("GET", "DELETE", 1))
        time.sleep(PAUSE)
    awaited = EVENTS * STREAMS // len(cast.keys)
    wait_for(
        lambda: open_streams.count() >= awaited,
        lambda: f"only {open_streams.count()} of {awaited} events have arrived",
    )
    known = open_streams.known
    return sorted(at - begun for pk, begun in sent.items() for at in known[pk])


def report(alone: float, beside: float, grown: float, delays: list[float]) -> Part:
    p50, p99 = (delays[len(delays) * percent // 100] * 1000 for percent in (50, 99))
    rows = [
        ["polls alone", f"{alone:,.0f}/s"],
        [f"polls beside {STREAMS} streams", f"{beside:,.0f}/s"],
        ["memory of the web processes", f"+{grown:.0f} MB"],
        ["from the cancel to the 25 streams of the account, p50", f"{p50:.0f} ms"],
        ["p99", f"{p99:.0f} ms"],
    ]
    return Part(
        {"streams": table(["", "measured"], rows)},
        [
            Goal("polls beside 200 streams against polls alone", 0.9, None, beside / alone),
            Goal("memory of 200 streams", 100, None, grown, " MB", at_most=True),
            Goal("from an event to its streams, p99", 200, None, p99, " ms", at_most=True),
        ],
    )
