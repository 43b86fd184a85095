"""Answers /healthz from the event loop, and /readyz from a thread of its own."""

import traceback
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING
from wsgiref.types import WSGIApplication

from front.environ import Environ, set_body
from front.reading import Message
from front.responses import Response, close, render_whole

if TYPE_CHECKING:
    from front.connection import Connection
    from front.server import Server

_JSON = [("Content-Type", "application/json"), ("Cache-Control", "no-store")]
_HEALTHY = b'{"status": "ok"}'
_SLOW = b'{"status": "unavailable", "reason": "The check takes too long."}'
_BROKEN = b'{"status": "unavailable", "reason": "The check failed; the log says why."}'
_SAFE = ("GET", "HEAD")


def answer_health(connection: "Connection", message: Message) -> None:
    """Shows that the process runs; checks nothing else, not even the Host."""
    if message.environ["REQUEST_METHOD"] in _SAFE:
        response = Response("200 OK", _JSON)
        connection.finish(message, render_whole(message, response, _HEALTHY))
    else:
        response = Response("405 Method Not Allowed", [("Allow", ", ".join(_SAFE))])
        connection.finish(message, render_whole(message, response, b""))


class Readiness:
    """Asks the application for /readyz; calls that wait at the same time share the answer."""

    def __init__(self, application: WSGIApplication, server: "Server") -> None:
        self._application = application
        self._server = server
        self._waiting: list[tuple[Connection, Message]] = []
        self._is_running = False
        self._questions: SimpleQueue[None] = SimpleQueue()
        Thread(target=self._work, name="readiness", daemon=True).start()

    def ask(self, connection: "Connection", message: Message) -> None:
        """Answers this call when the check ends, or 503 when it takes too long."""
        if message.environ["REQUEST_METHOD"] not in _SAFE:
            answer_health(connection, message)
            return
        self._waiting.append((connection, message))
        if len(self._waiting) == 1:
            seconds = self._server.limits.readiness
            self._timer = self._server.loop.call_later(seconds, self._give_up)
        if not self._is_running:
            self._is_running = True
            self._questions.put(None)

    def _work(self) -> None:
        """Runs the checks, on a thread that keeps its connection to the database."""
        while True:
            self._questions.get()
            response = Response()
            try:
                result = self._application(build_question(self._server.common.base), response.start)
                body = b"".join(result)
                close(result)
            except Exception:
                traceback.print_exc()
                response, body = Response("503 Service Unavailable", _JSON), _BROKEN
            self._server.loop.call_soon_threadsafe(self._end, response, body)

    def _end(self, response: Response, body: bytes) -> None:
        self._is_running = False
        self._answer(response, body)

    def _give_up(self) -> None:
        self._answer(Response("503 Service Unavailable", _JSON), _SLOW)

    def _answer(self, response: Response, body: bytes) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._timer.cancel()
        for connection, message in waiting:
            connection.finish(message, render_whole(message, response, body))


def build_question(base: Environ) -> Environ:
    """Builds a request for /readyz under the host of the site."""
    environ: Environ = {
        **base,
        "REMOTE_ADDR": "127.0.0.1",
        "REQUEST_METHOD": "GET",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "PATH_INFO": "/readyz",
        "QUERY_STRING": "",
    }
    set_body(environ, b"")
    return environ
