"""Runs the WSGI application on threads, one complete request at a time."""

import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from typing import Protocol
from wsgiref.types import WSGIApplication

from front.reading import Message
from front.refusals import render
from front.responses import (
    Parts,
    Response,
    close,
    has_body,
    is_in_memory,
    render_whole,
    take,
)
from web.json_clients import asks_for_json
from web.late_answers import KEPT, PART, RESUMED


class Client(Protocol):
    """A connection, as threads see it. They pass its methods to `tell`, and call none of them."""

    is_gone: bool

    def send(self, message: Message, data: bytes) -> None:
        """Sends a part of a response; more follows."""

    def finish(self, message: Message, data: bytes) -> None:
        """Sends the last part of a response."""

    def break_off(self, message: Message) -> None:
        """Ends a response that cannot be completed."""

    def hold(self, message: Message, data: bytes) -> None:
        """Keeps the request, to be answered later; sends a part of its response before."""


Tell = Callable[[Callable[..., None], Message, bytes], None]


@dataclass(slots=True)
class Unfinished:
    """A response of which more is to be sent."""

    parts: Parts
    result: Iterable[bytes]


class Threads:
    """The threads that run the application; they live as long as the process.

    `tell` runs a function in the event loop.
    """

    def __init__(self, application: WSGIApplication, count: int, tell: Tell) -> None:
        self.application = application
        self.tell = tell
        self._queue: SimpleQueue[tuple[Client, Message] | None] = SimpleQueue()
        self.submit = self._queue.put
        self._threads = [
            Thread(target=self._work, name=f"web-{number}", daemon=True)
            for number in range(1, count + 1)
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Ends the threads once they have answered what they were given."""
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while task := self._queue.get():
            try:
                self._answer(*task)
            except Exception:
                traceback.print_exc()
                self.tell(task[0].break_off, task[1], b"")

    def _answer(self, client: Client, message: Message) -> None:
        if message.parts is not None:
            self._go_on(client, message)
        elif not client.is_gone:
            self._begin(client, message)
        elif seat := message.environ.pop(RESUMED, None):  # it went while its request was queued
            seat.leave()

    def _begin(self, client: Client, message: Message) -> None:
        response = Response()
        try:
            result = self.application(message.environ, response.start)
        except Exception:
            message.environ.pop(KEPT, None)
            if message.stream is not None:
                raise
            traceback.print_exc()
            self.tell(client.finish, message, render_failure(message))
            return
        finally:
            resumed = message.environ.pop(RESUMED, None)
            if resumed is not None and KEPT not in message.environ:
                resumed.leave()
        if PART in message.environ or message.stream is not None:
            self._send_part(client, message, response, result)
            return
        if KEPT in message.environ:
            close(result)
            self.tell(client.hold, message, b"")
            return
        try:
            is_sent = self._send_first(client, message, response, result)
        except BaseException:
            close(result)
            raise
        if is_sent:
            close(result)

    def _send_part(
        self, client: Client, message: Message, response: Response, result: Iterable[bytes]
    ) -> None:
        """Sends a part of a stream, and keeps its seat; without one, it is the last part."""
        is_last = message.environ.pop(PART, None) is None
        try:
            body = b"".join(result)
        finally:
            close(result)
        if message.stream is None:
            message.stream = Parts(message, response, iter(()))
            data = message.stream.head + message.stream.render(body, is_last=is_last)
        else:
            data = message.stream.render(body, is_last=is_last)
        self.tell(client.finish if is_last else client.hold, message, data)

    def _send_first(
        self, client: Client, message: Message, response: Response, result: Iterable[bytes]
    ) -> bool:
        """Sends the first part of a response; returns whether that was all."""
        body = iter(result)
        data, is_whole = (b"".join(body), True) if is_in_memory(result) else take(body)
        if is_whole or not has_body(message, response.status):
            self.tell(client.finish, message, render_whole(message, response, data))
            return True
        parts = Parts(message, response, body)
        data = parts.head + parts.render(data, is_last=False)
        message.parts = Unfinished(parts, result)
        self.tell(client.send, message, data)
        return False

    def _go_on(self, client: Client, message: Message) -> None:
        unfinished: Unfinished = message.parts
        if client.is_gone:
            close(unfinished.result)
            return
        try:
            data, is_last = unfinished.parts.next()
        except BaseException:
            close(unfinished.result)
            raise
        self.tell(client.finish if is_last else client.send, message, data)
        if is_last:
            close(unfinished.result)


def render_failure(message: Message) -> bytes:
    """Renders the response where the application itself failed, which Django never does."""
    environ = message.environ
    as_json = asks_for_json(
        environ["PATH_INFO"], environ.get("HTTP_ACCEPT", ""), environ.get("CONTENT_TYPE", "")
    )
    status, headers, body = render(500, "The log has the reason.", as_json=as_json)
    return render_whole(message, Response(status, headers), body)
