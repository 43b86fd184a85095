"""A door in front of the service: it counts calls, makes them fail, and holds them where a test
wants the caller to die."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests

OWN = ("connection", "transfer-encoding", "content-length", "date", "server", "host")
CROWDED = '0; reason="too many calls are waiting"'


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    idempotency_key: str | None


@dataclass(frozen=True)
class Fault:
    """What happens to a call: it gets this status, or its connection is closed (0)."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    is_forwarded: bool = False  # whether the service gets it all the same
    method: str = ""  # it befalls the next call with this method


class Gate:
    """`faults` befall the next calls, and the next `crowded` calls may not wait.

    Where it `is_old`, the service knows no cursors of lists.

    `hold` is a method, a part of a path, and "before" or "after" the service has handled the call:
    such a call is held until `release`, and then lost.
    """

    def __init__(self, site: str) -> None:
        self.site = site
        self.url = ""
        self.calls: list[Call] = []
        self.sent: list[bytes] = []  # heads and bodies
        self.faults: list[Fault] = []
        self.crowded = 0
        self.is_old = False
        self.hold: tuple[str, str, str] | None = None
        self.held = threading.Event()
        self.streams: list[socket.socket] = []
        self._free = threading.Event()

    def cut(self) -> None:
        """Breaks every stream of events."""
        while self.streams:
            with suppress(OSError):
                self.streams.pop().shutdown(socket.SHUT_RDWR)

    def keys(self) -> list[str | None]:
        """The idempotency keys of the creates."""
        return [call.idempotency_key for call in self.calls if call.method == "POST"]

    def release(self) -> None:
        self.hold = None
        self._free.set()

    def take_fault(self, method: str) -> Fault | None:
        """Takes the next fault if it is one for this method."""
        if self.faults and self.faults[0].method in ("", method):
            return self.faults.pop(0)
        return None

    def keeps(self, call: Call, moment: str) -> bool:
        """Holds a call that is to be held; returns whether it was."""
        if self.hold is None:
            return False
        method, path, when = self.hold
        if (call.method, moment) != (method, when) or path not in call.path:
            return False
        self.held.set()
        self._free.wait(60)
        return True


class Handler(BaseHTTPRequestHandler):
    gate: Gate

    def handle_call(self) -> None:
        call = Call(self.command, self.path, self.headers.get("Idempotency-Key"))
        self.gate.calls.append(call)
        sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.gate.sent.append(f"{self.path}\n{self.headers}".encode() + sent)
        if self.gate.keeps(call, "before"):
            return
        fault = self.gate.take_fault(self.command)
        if fault is None and "/events" in self.path:
            self.relay()
            return
        if fault is None or fault.is_forwarded:
            answer = self.forward(sent)
        if self.gate.keeps(call, "after"):
            return
        if fault is None:
            self.reply(answer.status_code, dict(answer.headers), answer.content)
        elif fault.status:
            self.reply(fault.status, fault.headers, b"")

    def forward(self, sent: bytes) -> requests.Response:
        headers = {name: self.headers[name] for name in self.headers if name.lower() not in OWN}
        path = self.path
        is_crowded = self.gate.crowded > 0 and "?wait=" in path
        if is_crowded:
            self.gate.crowded -= 1
            path = path.partition("?")[0]
        if self.gate.is_old:
            path = re.sub("&cursor=[^&]*", "", path)
        address = self.gate.site + path
        answer = requests.request(self.command, address, data=sent, headers=headers, timeout=60)
        if is_crowded:
            answer.headers["Wait-Applied"] = CROWDED
        return answer

    def relay(self) -> None:
        """Passes a stream on as it comes; its end is the end of the connection."""
        headers = {name: self.headers[name] for name in self.headers if name.lower() not in OWN}
        address = self.gate.site + self.path
        with requests.get(address, headers=headers, stream=True, timeout=60) as answer:
            self.close_connection = True
            self.send_response_only(answer.status_code)
            for name, value in answer.headers.items():
                if name.lower() not in OWN:
                    self.send_header(name, value)
            self.end_headers()
            self.gate.streams.append(self.connection)
            with suppress(OSError):
                for part in answer.iter_content(None):
                    self.wfile.write(part)

    def reply(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() not in OWN:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_DELETE = handle_call  # noqa: N815 (names of the base class)

    def log_message(self, *_: object) -> None: ...


@contextmanager
def gate_before(site: str) -> Iterator[Gate]:
    gate = Gate(site)
    handler = type("HandlerOfGate", (Handler,), {"gate": gate})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign] # callers are killed
    threading.Thread(target=server.serve_forever, daemon=True).start()
    gate.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield gate
    finally:
        gate.release()
        gate.cut()
        server.shutdown()
        server.server_close()
