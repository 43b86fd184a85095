"""Posts to a URL that a stranger chose: resolves it once, checks it, and dials what it checked.

No redirects, no proxies or credentials from the environment, no cookies, identity encoding, TLS
verified, one deadline for the whole exchange, and at most 16 KiB of the response.
"""

import contextlib
import socket
import ssl
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any

import certifi
import requests
import urllib3
from requests.structures import CaseInsensitiveDict
from urllib3 import HTTPHeaderDict
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.util import parse_url

from web.web_urls import hide_credentials
from webhooks.deadlines import Deadline
from webhooks.failure_texts import (
    NO_CONNECTION,
    NO_RESPONSE_IN_TIME,
    NOT_PUBLIC,
    NOT_RESOLVED,
    NOT_RESOLVED_IN_TIME,
)
from webhooks.networks import Network, may_reach, read_address
from webhooks.responses import BrokenOff, FinalResponse, read_body

MAX_RESPONSE = 16 * 1024
USER_AGENT = "ReviewLoop-Webhooks/1"
PORTS = {"http": 80, "https": 443}
STREAM: dict[str, Any] = {"type": socket.SOCK_STREAM}
FAILURES = (
    *(BrokenOff, HTTPException, requests.RequestException, urllib3.exceptions.HTTPError),
    *(OSError, ValueError),
)


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


# A look-up that nobody answers holds its thread for some 20 s, longer than the attempt that wanted
# it. So there are several for each thread that sends webhooks or pushes.
_RESOLVERS = ThreadPoolExecutor(max_workers=128, thread_name_prefix="resolve")


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
    dialler: Dialler

    def _new_conn(self) -> socket.socket:
        return self.dialler.connect(self._dns_host, self.port)


class Tls(Plain, HTTPSConnection):
    """HTTPS over a socket of the dialler, with the host's name for SNI and the certificate."""


def new_connection(url: str, dialler: Dialler, tls: ssl.SSLContext) -> Plain:
    """Makes a connection to the host of a prepared URL, without opening it.

    Raises InvalidSchema, InvalidURL.
    """
    parsed = parse_url(url)
    if parsed.scheme not in PORTS:
        raise requests.exceptions.InvalidSchema("neither http nor https")
    host = str(parsed.host).strip("[]")
    if "%" in host:
        raise requests.exceptions.InvalidURL("an IPv6 address with a zone")
    # without a port, http.client takes the end of an IPv6 address for one
    port, timeout = parsed.port or PORTS[parsed.scheme], dialler.deadline.left
    connection = (
        Tls(host, port, timeout=timeout, ssl_context=tls)
        if parsed.scheme == "https"
        else Plain(host, port, timeout=timeout)
    )
    connection.dialler = dialler
    return connection


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
    try:
        request = requests.Request("POST", url, data=body, headers={**fixed, **headers}).prepare()
        response = exchange(request, Dialler(opened, deadline), tls)
        if deadline.passed:
            raise Unreachable(NO_RESPONSE_IN_TIME % {"seconds": f"{seconds:g}"})
        return response
    except FAILURES as error:
        if deadline.passed or isinstance(error, TimeoutError):
            raise Unreachable(NO_RESPONSE_IN_TIME % {"seconds": f"{seconds:g}"}) from None
        raise Unreachable(str(error) if isinstance(error, BrokenOff) else describe(error)) from None
    finally:
        deadline.close()


def exchange(request: requests.PreparedRequest, dialler: Dialler, tls: ssl.SSLContext) -> Response:
    """Sends a request over a connection of its own and reads the response.

    It does without the sessions, adapters and pools of `requests` and urllib3, which only serve
    connections that are kept: they took a fifth of the CPU time of a delivery.
    """
    connection = new_connection(str(request.url), dialler, tls)
    try:
        connection.connect()
        # a receiver may respond and close before it has read the whole body
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.request(
                "POST",
                request.path_url,
                body=request.body,
                headers=request.headers,
                preload_content=False,
            )
        with connection.getresponse() as received:
            content = read_body(received, MAX_RESPONSE)
            return Response(received.status, bounded(received.headers), content)
    finally:
        connection.close()


def bounded(headers: HTTPHeaderDict) -> Mapping[str, str]:
    """The headers that fit into 16 KiB: they are stored, and a receiver may send 6 MB."""
    kept: CaseInsensitiveDict[str] = CaseInsensitiveDict()
    room = MAX_RESPONSE
    for name, value in headers.itermerged():
        if len(name) + len(value) <= room:
            kept[name] = value
            room -= len(name) + len(value)
    return kept


def describe(error: Exception) -> str:
    """The innermost failure in one line, without the password of a URL that it quotes."""
    inner: BaseException = error
    while isinstance(reason := getattr(inner, "reason", None), BaseException):
        inner = reason
    text = str(inner)  # which may quote what the receiver sent
    said = text if text.isprintable() else repr(text)
    return hide_credentials(f"{type(inner).__name__}: {said}")[:500]
