"""Posts to a URL that a stranger chose: resolves it once, checks it, and dials what it checked.

No redirects, no proxies or credentials from the environment, no cookies, identity encoding, TLS
verified, one deadline for the whole exchange, and at most 16 KiB of the response.
"""

import contextlib
import heapq
import itertools
import socket
import ssl
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from functools import partial
from typing import Any

import certifi
import requests
import urllib3
from requests.adapters import HTTPAdapter
from requests.structures import CaseInsensitiveDict
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from web.web_urls import hide_credentials
from webhooks.failure_texts import (
    NO_CONNECTION,
    NO_RESPONSE_IN_TIME,
    NOT_PUBLIC,
    NOT_RESOLVED,
    NOT_RESOLVED_IN_TIME,
)
from webhooks.http_response import BrokenOff, FinalResponse, read_body
from webhooks.networks import Network, may_reach, read_address

MAX_RESPONSE = 16 * 1024
USER_AGENT = "ReviewLoop-Webhooks/1"
STREAM: dict[str, Any] = {"type": socket.SOCK_STREAM}
FAILURES = (BrokenOff, requests.RequestException, urllib3.exceptions.HTTPError, OSError, ValueError)


class Refused(Exception):
    """The address is not one that a webhook may reach; no connection was tried."""


class Unreachable(Exception):
    """No connection, no response in time, or no HTTP: counts for the circuit breaker."""


@dataclass(frozen=True, slots=True)
class Response:
    """A response: at most 16 KiB of the body, and as much of the headers.

    Header names are found in any case.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


class Watchdog:
    """One thread that cuts connections whose time is over."""

    def __init__(self) -> None:
        self._waiting: list[tuple[float, int, Deadline]] = []
        self._changed = threading.Condition()
        self._numbers = itertools.count()
        self._thread: threading.Thread | None = None

    def add(self, deadline: "Deadline") -> None:
        with self._changed:
            heapq.heappush(self._waiting, (deadline.at, next(self._numbers), deadline))
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
                self._thread.start()
            self._changed.notify()

    def _watch(self) -> None:
        while True:
            with self._changed:
                while not self._waiting:
                    self._changed.wait()
                wait = self._waiting[0][0] - time.monotonic()
                if wait > 0:
                    self._changed.wait(wait)
                    continue
                deadline = heapq.heappop(self._waiting)[2]
            deadline.cut()


class Deadline:
    """The time limit of a whole exchange; at its end the watchdog cuts the connection."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.at = time.monotonic() + seconds
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()
        _WATCHDOG.add(self)

    @property
    def left(self) -> float:
        return max(0.001, self.at - time.monotonic())

    @property
    def passed(self) -> bool:
        return time.monotonic() >= self.at

    def watch(self, connection: socket.socket) -> None:
        """Adds a connection to cut, even after TLS has taken over its descriptor."""
        with self._lock:
            self._sockets.append(connection.dup())
        if self.passed:
            self.cut()

    def cut(self) -> None:
        with self._lock:
            for connection in self._sockets:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Ends the watch, because the exchange is over."""
        with self._lock:
            for connection in self._sockets:
                connection.close()
            self._sockets.clear()


_WATCHDOG = Watchdog()
_RESOLVERS = ThreadPoolExecutor(max_workers=16, thread_name_prefix="resolve")


@dataclass(frozen=True, slots=True)
class Dialler:
    """Resolves a host once, refuses what is not open, and connects to what it checked."""

    opened: Sequence[Network]
    deadline: Deadline

    def connect(self, host: str, port: int) -> socket.socket:
        """Connects to the first address that accepts. Raises Refused, Unreachable."""
        failure: OSError | None = None
        for family, address in self.resolve(host, port):
            connection = socket.socket(family, socket.SOCK_STREAM)
            self.deadline.watch(connection)
            connection.settimeout(self.deadline.left)
            try:
                connection.connect(address)
            except OSError as error:
                connection.close()
                failure = error
            else:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return connection
        raise Unreachable(NO_CONNECTION % {"reason": failure})

    def resolve(self, host: str, port: int) -> list[tuple[int, Any]]:
        """All addresses of the host. Raises Refused where one of them may not be reached."""
        name = host.strip("[]")
        try:
            if read_address(name) is None:
                lookup = _RESOLVERS.submit(socket.getaddrinfo, name, port, **STREAM)
                found = lookup.result(self.deadline.left)
            else:  # nothing to look up, so nothing to wait for
                found = socket.getaddrinfo(name, port, **STREAM)
        except FutureTimeout:
            lookup.cancel()  # where it never began; others wait for its thread
            raise Unreachable(NOT_RESOLVED_IN_TIME) from None
        except (OSError, UnicodeError) as error:
            raise Unreachable(NOT_RESOLVED % {"reason": error}) from None
        for *_, address in found:
            known = read_address(str(address[0]))
            if known is None or not may_reach(known, self.opened):
                raise Refused(NOT_PUBLIC % {"address": address[0]})
        return [(family, address) for family, _, _, _, address in found]


def tls_context(ca_file: str | None = None) -> ssl.SSLContext:
    """Verifies certificates by the bundled authorities and by the operator's own file, if any."""
    context = ssl.create_default_context(cafile=certifi.where())
    context.minimum_version = ssl.TLSVersion.TLSv1_2  # Debian's own Python leaves it to OpenSSL
    if ca_file:
        context.load_verify_locations(ca_file)
    return context


class Plain(HTTPConnection):
    """HTTP over a socket of the dialler."""

    response_class = FinalResponse

    def __init__(self, dialler: Dialler, **kwargs: Any) -> None:
        self.dialler = dialler
        super().__init__(**kwargs)

    def _new_conn(self) -> socket.socket:
        return self.dialler.connect(self._dns_host, int(self.port or 80))


class Tls(HTTPSConnection):
    """HTTPS over a socket of the dialler, with the host's name for SNI and the certificate."""

    response_class = FinalResponse

    def __init__(self, dialler: Dialler, **kwargs: Any) -> None:
        self.dialler = dialler
        super().__init__(**kwargs)

    def _new_conn(self) -> socket.socket:
        return self.dialler.connect(self._dns_host, int(self.port or 443))


def plain_pool(dialler: Dialler, *args: Any, **kwargs: Any) -> HTTPConnectionPool:
    """A pool whose connections the dialler makes."""
    pool = HTTPConnectionPool(*args, **kwargs)
    pool.ConnectionCls = partial(Plain, dialler)  # type: ignore[assignment]
    return pool


def tls_pool(dialler: Dialler, *args: Any, **kwargs: Any) -> HTTPSConnectionPool:
    """A pool whose TLS connections the dialler makes."""
    pool = HTTPSConnectionPool(*args, **kwargs)
    pool.ConnectionCls = partial(Tls, dialler)  # type: ignore[assignment]
    return pool


class GuardedAdapter(HTTPAdapter):
    """Sends requests over connections of a Dialler, never through a proxy."""

    def __init__(self, dialler: Dialler, tls: ssl.SSLContext) -> None:
        self.dialler, self.tls = dialler, tls
        super().__init__(max_retries=0, pool_connections=1, pool_maxsize=1)  # it sends once

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs, ssl_context=self.tls)
        self.poolmanager.pool_classes_by_scheme = {
            "http": partial(plain_pool, self.dialler),
            "https": partial(tls_pool, self.dialler),
        }

    def cert_verify(self, conn: Any, url: str, verify: Any, cert: Any) -> None:
        """Does nothing: the context verifies, and requests would load its authorities each time."""


def post(
    url: str,
    *,
    body: bytes,
    headers: Mapping[str, str],
    seconds: float,
    opened: Sequence[Network],
    tls: ssl.SSLContext,
) -> Response:
    """Posts `body` within `seconds`, and returns what came back, whatever its status.

    Raises Refused, Unreachable.
    """
    fixed = {"User-Agent": USER_AGENT, "Accept-Encoding": "identity", "Connection": "close"}
    deadline = Deadline(seconds)
    adapter = GuardedAdapter(Dialler(opened, deadline), tls)
    try:
        request = requests.Request("POST", url, data=body, headers={**fixed, **headers}).prepare()
        patience = (deadline.left, deadline.left)
        with adapter.send(request, stream=True, timeout=patience, proxies={}) as received:
            content = read_body(received, MAX_RESPONSE)
        if deadline.passed:
            raise Unreachable(NO_RESPONSE_IN_TIME % {"seconds": f"{seconds:g}"})
        return Response(received.status_code, bounded(received.headers), content)
    except FAILURES as error:
        if deadline.passed or isinstance(error, requests.Timeout | TimeoutError):
            raise Unreachable(NO_RESPONSE_IN_TIME % {"seconds": f"{seconds:g}"}) from None
        raise Unreachable(str(error) if isinstance(error, BrokenOff) else describe(error)) from None
    finally:
        adapter.close()
        deadline.close()


def bounded(headers: Mapping[str, str]) -> Mapping[str, str]:
    """The headers that fit into 16 KiB: they are stored, and a receiver may send 6 MB."""
    kept: CaseInsensitiveDict[str] = CaseInsensitiveDict()
    room = MAX_RESPONSE
    for name, value in headers.items():
        if len(name) + len(value) <= room:
            kept[name] = value
            room -= len(name) + len(value)
    return kept


def describe(error: Exception) -> str:
    """The innermost failure in one line, without the password of a URL that it quotes."""
    inner: BaseException = error
    while isinstance(reason := getattr(inner, "reason", None), BaseException):
        inner = reason
    return hide_credentials(f"{type(inner).__name__}: {inner}")[:500]
