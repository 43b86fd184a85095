"""Reads the event stream of the account, and resumes it after a broken connection."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import requests

from reviewloop.errors import ApiError, ConnectionFailed
from reviewloop.transport import Patience, Transport, log

PATH = "/api/events"
READ_SECONDS = 40.0  # the service sends something every 12 seconds
MAX_KNOWN = 10_000  # ids of events, which may come again after a broken connection
RESET = "stream.reset"
CLOSED = "stream.closed"


@dataclass(frozen=True)
class StreamEvent:
    """An event. `id` is the `webhook-id`, and `body` has the fields of a webhook.

    If `name` is "stream.reset", events may be missing before the next one: read your requests.
    """

    id: str
    name: str
    body: dict[str, Any]


@dataclass(frozen=True)
class Block:
    """A block of the stream; an id without data is a position for resuming."""

    id: str | None
    name: str
    data: str


class EventStream:
    """Iterates over events; `last_id` is the position for resuming. Ends with `close`."""

    def __init__(self, transport: Transport, after: str | None = None) -> None:
        """Connects. Raises ApiError, ConnectionFailed."""
        self.last_id = after or ""
        self._transport = transport
        self._known: OrderedDict[str, None] = OrderedDict()
        self._is_closed = False
        self._patience: Patience | None = None  # since the first failure in a row
        self._response: requests.Response | None = None
        self._blocks = self._connect()

    def __iter__(self) -> EventStream:
        return self

    def __next__(self) -> StreamEvent:
        """Returns the next event. Raises ApiError, ConnectionFailed."""
        while not self._is_closed:
            block = self._read()
            self._patience = None
            if block.id is not None:
                self.last_id = block.id
            if block.data and block.name != CLOSED and not self._knows(block):
                body = json.loads(block.data)
                return StreamEvent("" if block.name == RESET else self.last_id, block.name, body)
        raise StopIteration

    def close(self) -> None:
        """Closes the connection."""
        self._is_closed = True
        if self._response is not None:
            self._response.close()

    def __enter__(self) -> EventStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _knows(self, block: Block) -> bool:
        """Tells whether the event was received before, and remembers it."""
        if block.id is None or block.name == RESET:
            return False
        is_known = block.id in self._known
        self._known[block.id] = None
        if len(self._known) > MAX_KNOWN:
            self._known.popitem(last=False)
        return is_known

    def _read(self) -> Block:
        """Returns the next block; reconnects if the connection is broken."""
        while True:
            try:
                with self._transport.connecting():
                    return next(self._blocks)
            except StopIteration:
                failure = ConnectionFailed(f"{self._transport.url}: the stream has ended")
            except ConnectionFailed as error:
                failure = error
            if self._is_closed:
                return Block(None, "", "")
            self._sit_out(failure)
            self._blocks = self._connect()

    def _connect(self) -> Iterator[Block]:
        """Connects, with retries after temporary failures."""
        while True:
            try:
                response = self._transport.open(PATH, self.last_id, READ_SECONDS)
            except (ApiError, ConnectionFailed) as failure:
                self._sit_out(failure)
            else:
                break
        log.debug("Listening from %s", self.last_id or "now")
        self._response = response
        return read_blocks(read_lines(response))

    def _sit_out(self, failure: ApiError | ConnectionFailed) -> None:
        self._patience = self._patience or Patience(self._transport.patience)
        self._patience.sit_out(failure, is_quota_free=True)


def read_lines(response: requests.Response) -> Iterator[str]:
    """Reads lines as they arrive."""
    is_chunked = response.headers.get("Transfer-Encoding", "").lower() == "chunked"
    for line in response.iter_lines(chunk_size=None if is_chunked else 1):
        yield line.decode("utf-8", "replace")


def read_blocks(lines: Iterable[str]) -> Iterator[Block]:
    """Reads server-sent events (HTML standard, 9.2). An unfinished last one is dropped."""
    fields: dict[str, str] = {}
    data: list[str] = []
    for line in lines:
        if not line:
            yield Block(fields.get("id"), fields.get("event", "message"), "\n".join(data))
            fields, data = {}, []
            continue
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "data":
            data.append(value)
        else:
            fields[name] = value
