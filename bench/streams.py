"""Measures two hundred streams of events, with concurrent polls.

All accounts have the same number of streams. Their requests are cancelled one after the other. The
delay of a stream counts from the sending of the cancel to the event.
"""

import asyncio
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
from bench.waits import ask

STREAMS, EVENTS = 200, 200
PATH = "/v1/api/events"
DATA = b"data: "
LABELS = Labels(
    part="streams",
    connections="streams",
    short="streams",
    notified="from the cancel to the 25 streams of the account",
    goal="from an event to its streams",
)


@dataclass
class Listeners:
    """The clients that read streams. They live in a thread with an event loop."""

    port: int
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    open: int = 0
    known: dict[str, list[float]] = field(default_factory=dict)  # the times, by request

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
                request_id = line.partition(b'"request_id":"')[2][:24].decode()
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
    """Measures polls without and with streams, then the delays of events."""
    trial = Trial(web, cast, load)
    with listeners(web.port) as open_streams:
        accounts = len(cast.keys)
        for number in range(STREAMS):
            keys = cast.keys[number % accounts]
            open_streams.add(keys[number // accounts % len(keys)])
        wait_for(
            lambda: open_streams.open == STREAMS,
            lambda: f"only {open_streams.open} of {STREAMS} streams have begun",
        )
        trial.measure_with_connections()
        sent = cancel(ask, web.port, make_requests(web.port, cast))
        awaited = EVENTS * STREAMS // accounts
        wait_for(
            lambda: open_streams.count() >= awaited,
            lambda: f"only {open_streams.count()} of {awaited} events have arrived",
        )
    return trial.report(STREAMS, LABELS, delays_of(sent, open_streams.known))


def make_requests(port: int, cast: Cast) -> list[tuple[str, str]]:
    """Creates requests of all accounts; returns their ids, each with a key."""
    made = []
    for number in range(EVENTS):
        account = number % len(cast.keys)
        key, path = cast.keys[account][0], f"/v1/api/loops/{cast.loops[account]}/requests"
        made.append((ask(port, post(path, key, api.BODY))["request_id"], key))
    return made
