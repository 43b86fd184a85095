"""No header causes a server error: over the web server, and over the application alone."""

import socket
from collections.abc import Callable, Iterator

import pytest
from django.conf import settings
from django.test import Client

from accounts.models import User
from config.asgi import application
from tests.conftest import key_of
from tests.front.toy import Caller
from web.asgi import Request, build_meta

pytestmark = pytest.mark.django_db(transaction=True)

Fields = list[tuple[bytes, bytes]]
Send = Callable[[str, str, Fields], int]

# The header parsers of Django and of Python raise at some of the RFC 2231 parameters.
PARAMETERS = ["*=bogus''x", "*=utf-8''a; {}*1=b", "*=utf-8''%00", "*0*=utf-8''%ff; {}*2=b", "=\xe9"]
TYPES = ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"]
CHARSETS = [
    "undefined", "hex", "rot13", "base64", "utf-16", "utf-7", "idna", "punycode", "unicode_escape",
    "x" * 300,
]  # fmt: skip
CONTENT_TYPES = [
    *(f"{kind}; charset{each.format('charset')}" for kind in TYPES for each in PARAMETERS),
    *(f"multipart/form-data; boundary{each.format('boundary')}" for each in PARAMETERS),
    *(f"{kind}; boundary=x; charset={name}" for kind in TYPES for name in CHARSETS),
    *("multipart/form-data; boundary=" + each for each in ("", "x" * 300, '"', "x;boundary=y")),
]
VALUES = {
    "Accept": ["*/*;q=nan", "text/html;q=1;q=2;level*=bogus''x", "a/b;c*=utf-8''a;c*1=b"],
    "Accept-Encoding": ["gzip;q=x", "gzip;q=", "identity;q=0, *;q=0"],
    "Accept-Language": ["de;q=2", "de-" * 200, "de;q=0." + "0" * 40],
    "Authorization": ["Bearer", "Bearer \xff", "Bearer " + "=" * 50, "bearer a b"],
    "Content-Length": [],
    "Content-Type": CONTENT_TYPES,
    "Cookie": ["sessionid=\xff", 'sessionid="\\000a"', "csrftoken=" + "x" * 3000, "=;=;="],
    "Expect": ["200-maybe"],
    "Forwarded": ["for=[", 'for="'],
    "Host": ["a:b", "a:999999", "a b", "@", "testserver:-1", ".."],
    "HX-Current-URL": ["http://[", "http://a:x/"],
    "HX-Request": ["true"],
    "Idempotency-Key": ['"\\"', '"' + "a" * 300 + '"', '"a";x=', "(a b)"],
    "If-Match": ["*"],
    "If-Modified-Since": ["Thu, 99 Foo 99999 99:99:99 GMT", "Mon, 01 Jan 0000 00:00:00 GMT"],
    "If-None-Match": ["W/", '"a" "b', "*, *"],
    "If-Range": ['"'],
    "If-Unmodified-Since": ["Sat, 31 Feb 2026 00:00:00 GMT"],
    "Last-Event-ID": ["-1.-1", "a" * 24, "9" * 19 + "." + "9" * 19],
    "MCP-Protocol-Version": ["2026-07-28", "1999-01-01"],
    "Mcp-Method": ["tools/call"],
    "Mcp-Name": ["=?base64?\xff?="],
    "Mcp-Session-Id": [],
    "Origin": ["null", "http://[", "http://a:x"],
    "Range": ["bytes=-", "bytes=9-1", "bytes=" + "0-1," * 300, "bytes=" + "9" * 5000 + "-"],
    "Referer": ["http://[", "http://a:x/", "//[::1"],
    "Traceparent": ["00-" + "0" * 32 + "-" + "0" * 16 + "-00", "ff-", "00-" + "g" * 32],
    "Tracestate": ["=,="],
    "User-Agent": ["\xff" * 500],
    "X-CSRFToken": ["x" * 64],
    "X-Forwarded-For": ["1.2.3.4:x", "," * 500, "fe80::1%eth0"],
    "X-Forwarded-Host": [],
    "X-Forwarded-Proto": ["https,http"],
    "X-Request-Id": ["x" * 500],
}
ANYWHERE = [
    "", ",", ";", "=", '"', "\\", "-", "*", "\xff\xfe", "%00%ff", "a=b;q=x", "-1", "9" * 30,
    "9" * 5000, "1e9", "0x10", "\xb2", "NaN", "=?base64?=?=", "=?base64?w6k?=", "x" * 6000,
    "[", "[::1", "]:80", "*/*;q=1e999", "text/html; charset*=bogus''x",
]  # fmt: skip
# A stream has no end, but for HEAD.
CALLS = [
    ("GET", "/dashboard/requests/?q=1"),
    ("GET", "/inbox/state/"),
    ("GET", "/accounts/login/"),
    ("GET", "/static/app.css"),
    ("GET", "/v1/api/requests?limit=1"),
    ("HEAD", "/v1/api/events"),
    ("POST", "/accounts/login/"),
    ("POST", "/v1/api/loops"),
    ("POST", "/mcp"),
]
BODY = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n'


def build_fields() -> Iterator[tuple[int, str, str]]:
    """The number of a call in CALLS, and a header for it: known values go everywhere."""
    for place, (name, values) in enumerate(VALUES.items()):
        for value in values:
            yield from ((number, name, value) for number in range(len(CALLS)))
        for shift, value in enumerate(ANYWHERE):
            yield (place + shift) % len(CALLS), name, value


@pytest.fixture
def usual(owner: User) -> dict[str, bytes]:
    """What a call has that is signed in and has a key."""
    browser = Client()
    browser.force_login(owner)
    browser.cookies["csrftoken"] = "a" * 32
    cookies = "; ".join(f"{name}={each.value}" for name, each in browser.cookies.items())
    return {
        "Host": settings.SITE_URL.partition("//")[2].encode(),
        "Authorization": b"Bearer " + key_of(owner, hourly_limit=1_000_000).encode(),
        "Cookie": cookies.encode(),
        "Content-Type": b"application/json",
    }


def send_to_application(method: str, path: str, fields: Fields) -> int:
    """Without a server that would check the head."""
    path, _, query = path.partition("?")
    scope = {
        "method": method, "path": path, "raw_path": path.encode(), "query_string": query.encode(),
        "http_version": "1.1", "client": ("127.0.0.1", 1),
        "headers": [(name.lower(), value) for name, value in fields],
    }  # fmt: skip
    meta = build_meta(scope, ("localhost", "80"))
    response = application(Request(meta, BODY if method == "POST" else b""))
    if response.streaming:
        b"".join(response)
    response.close()
    return response.status_code


def send_to(site: str) -> Send:
    address = ("127.0.0.1", int(site.rpartition(":")[2]))

    def send(method: str, path: str, fields: Fields) -> int:
        if method == "POST" and b"Content-Length" not in dict(fields):
            fields = [*fields, (b"Content-Length", b"%d" % len(BODY))]
        head = [f"{method} {path} HTTP/1.1".encode(), *(b"%b: %b" % each for each in fields)]
        with Caller(socket.create_connection(address, timeout=10)) as caller:
            caller.send(b"\r\n".join([*head, b"", b""]) + (BODY if method == "POST" else b""))
            return caller.read(is_head=True).status

    return send


@pytest.mark.parametrize("target", ["server", "application"])
def test_no_header_causes_a_server_error(
    request: pytest.FixtureRequest, usual: dict[str, bytes], target: str
) -> None:
    served = target == "server"
    send = send_to(request.getfixturevalue("service")) if served else send_to_application
    faults = []
    for number, name, value in build_fields():
        method, path = CALLS[number]
        fields = {**usual, name: value.encode("latin-1")}
        if method != "POST" and name != "Content-Type":
            del fields["Content-Type"]
        try:
            status = send(method, path, [(key.encode(), text) for key, text in fields.items()])
        except Exception as error:
            faults.append((method, path, name, value[:40], repr(error)[:80]))
        else:
            if status >= 500:
                faults.append((method, path, name, value[:40], str(status)))
    assert not faults
