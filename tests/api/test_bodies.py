"""Bodies that are not a JSON object, on every operation that reads one."""

import gzip
import io
import json
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from accounts.models import User
from loops.models import Loop
from reviews.models import Request
from tests.api import moments
from tests.api.bodies import LOOP, QUESTION
from tests.api.wire import Ask, refused, refused_at, send

pytestmark = pytest.mark.django_db

Paths = dict[str, tuple[str, str, dict[str, Any]]]


@pytest.fixture
def paths(loop: Loop, member: User, ask: Ask) -> Paths:
    """Every operation with a body: its method, its path, and a body that it takes."""
    done = ask()
    moments.answer(done, member)
    return {
        "create loop": ("POST", "/v1/api/loops", LOOP),
        "update loop": ("PUT", f"/v1/api/loops/{loop.pk}", {"name": "Renamed"}),
        "create request": ("POST", f"/v1/api/loops/{loop.pk}/requests", QUESTION),
        "feedback": ("POST", f"/v1/api/requests/{done}/feedback", {"feedback": {"rating": 1}}),
    }


def nested(levels: int) -> bytes:
    """An object of so many levels, under a key that every operation ignores."""
    return b'{"x":' * (levels - 1) + b"{}" + b"}" * (levels - 1)


def padded(body: dict[str, Any], size: int) -> bytes:
    """`body` as JSON of exactly `size` bytes."""
    bare = json.dumps({**body, "padding": ""}).encode()
    return json.dumps({**body, "padding": "x" * (size - len(bare))}).encode()


LARGE = "body must have at most 262144 bytes"
DEEP = "body must have at most 32 levels"
DOUBLE = "body must not contain numbers beyond a double, such as"
BAD = {
    "empty": (b"", "body must not be empty"),
    "blank": (b"  ", "body must not be empty"),
    "broken": (b'{"name": "x"', "body must be JSON: Expecting ',' delimiter at line 1, column 13"),
    "broken in line 2": (
        b'{"name":\n  x}',
        "body must be JSON: Expecting value at line 2, column 3",
    ),
    "cut": (
        b'{"name": "x',
        "body must be JSON: Unterminated string starting at line 1, column 10",
    ),
    "twice": (b"{}{}", "body must be JSON: Extra data at line 1, column 3"),
    "single quotes": (
        b"{'name': 'x'}",
        "body must be JSON: Expecting property name enclosed in double quotes at line 1, column 2",
    ),
    "trailing comma": (b'{"name": "x",}', "body must be JSON: "),
    "array": (b'[{"name": "x"}]', "body must be a JSON object, not an array"),
    "string": (b'"name"', "body must be a JSON object, not a string"),
    "number": (b"5", "body must be a JSON object, not a number"),
    "fraction": (b"5.5", "body must be a JSON object, not a number"),
    "true": (b"true", "body must be a JSON object, not true or false"),
    "null": (b"null", "body must be a JSON object, not null"),
    "latin-1": ('{"name": "ü"}'.encode("latin-1"), "body must be UTF-8: byte 11 is 0xFC"),
    "latin-1 behind a mark": (
        b'\xef\xbb\xbf{"name": "\xfc"}',
        "body must be UTF-8: byte 14 is 0xFC",
    ),
    "utf-16": ('{"name": "x"}'.encode("utf-16"), "body must be UTF-8: byte 1 is 0xFF"),
    "two byte order marks": (b'\xef\xbb\xbf\xef\xbb\xbf{"name": "x"}', "body must be JSON: "),
    "utf-16 with its mark": (
        '\ufeff{"name": "x"}'.encode("utf-16-le"),
        "body must be UTF-8: byte 1 is 0xFF",
    ),
    "gzip": (gzip.compress(b'{"name": "x"}'), "body must not be compressed, but begins as gzip"),
    "form": (b"name=x&icon=y", "body must be JSON: Expecting value at line 1, column 1"),
    "NUL escaped": (b'{"name": "a\\u0000b"}', "name must not contain NUL characters"),
    "NUL escaped, deep": (
        b'{"x": [1, {"y": "\\u0000"}]}',
        "x[1].y must not contain NUL characters",
    ),
    "NUL in a key": (b'{"a\\u0000": 1}', "a name in body must not contain NUL characters"),
    "NUL in a deep key": (b'{"b": {"\\u0000": 1}}', "a name in b must not contain NUL characters"),
    "NUL far down": (
        b'{"' + b"x" * 100 + b'": "\\u0000"}',
        f"{'x' * 60}… must not contain NUL characters",
    ),
    "NUL raw": (
        b'{"name": "a\x00b"}',
        "body must be JSON: Invalid control character at line 1, column 12",
    ),
    "lone high surrogate": (b'{"name": "\\ud800"}', "name must not contain lone surrogates"),
    "lone low surrogate": (
        b'{"x": {"y": ["\\udfff"]}}',
        "x.y[0] must not contain lone surrogates",
    ),
    "the first of two": (b'{"x": "\\udfff", "y": "\\u0000"}', "x must not contain lone surrogates"),
    "surrogates reversed": (b'{"name": "\\ude00\\ud83d"}', "name must not contain lone surrogates"),
    "surrogate in a key": (b'{"\\ud800": 1}', "a name in body must not contain lone surrogates"),
    "surrogate raw": (b'{"name": "\xed\xa0\x80"}', "body must be UTF-8: byte 11 is 0xED"),
    "NaN": (b'{"x": NaN}', "body must not contain NaN, which is no number in JSON"),
    "Infinity": (b'{"x": Infinity}', "body must not contain Infinity, which"),
    "-Infinity": (b'{"x": [-Infinity]}', "body must not contain -Infinity, which"),
    "1e999": (b'{"x": 1e999}', f"{DOUBLE} 1e999"),
    "-1e999": (b'{"x": {"y": -1e999}}', f"{DOUBLE} -1e999"),
    "a long integer": (b'{"x": 1' + b"0" * 400 + b"}", f"{DOUBLE} 1{'0' * 59}…"),
    "a longer integer": (b'{"x": 1' + b"0" * 5000 + b"}", f"{DOUBLE} 1{'0' * 59}…"),
    "33 levels": (nested(33), DEEP),
    "33 levels of arrays": (b'{"x":' + b"[" * 32 + b"]" * 32 + b"}", DEEP),
    "100,000 levels": (b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}", DEEP),
    "100,000 open levels": (b'{"x":' + b"[" * 100_000, DEEP),
    "256 KiB and one byte": (padded(LOOP, 256 * 1024 + 1), LARGE),
    "a megabyte": (b"x" * 1_000_000, LARGE),
}


@pytest.mark.contract(
    "body.not_object",
    "body.not_json",
    "body.nul",
    "body.surrogates",
    "body.literals",
    "body.overflow",
    "body.depth",
    "body.size",
    "create_loop.invalid_body",
)
@pytest.mark.parametrize(("raw", "detail"), list(BAD.values()), ids=list(BAD))
def test_what_is_no_object(paths: Paths, plenty: str, loop: Loop, raw: bytes, detail: str) -> None:
    for method, path, _ in paths.values():
        answer = send(method, path, f"Bearer {plenty}", raw)
        if method == "PUT" and not raw.strip():
            refused(answer, 400, "At least one field must be provided for update")
        else:
            refused_at(answer, "Invalid request body", detail)
    assert (Loop.objects.count(), Request.objects.count()) == (1, 1)
    assert Loop.objects.get().name == loop.name


@pytest.mark.contract("body.mark")
def test_a_byte_order_mark_is_skipped(paths: Paths, plenty: str) -> None:
    for method, path, body in paths.values():
        raw = b"\xef\xbb\xbf" + json.dumps(body).encode()
        assert send(method, path, f"Bearer {plenty}", raw).status_code in (200, 201), path
    method, path, _ = paths["update loop"]
    nothing = send(method, path, f"Bearer {plenty}", b"\xef\xbb\xbf")
    refused(nothing, 400, "At least one field must be provided for update")


@pytest.mark.contract("body.content_type")
@pytest.mark.parametrize(
    "content_type",
    [
        "",
        "text/plain",
        "text/html",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "application/xml",
        "json",
    ],
)
def test_what_is_not_declared_as_json(paths: Paths, plenty: str, content_type: str) -> None:
    for method, path, body in paths.values():
        answer = _declared(method, path, plenty, body, content_type)
        says = f", not {content_type}" if content_type else ", and there is none"
        detail = f"Content-Type must be application/json{says}"
        refused(answer, 400, "Invalid request body", detail)
    assert (Loop.objects.count(), Request.objects.count()) == (1, 1)


@pytest.mark.contract("body.content_type")
@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "application/json; charset=utf-8",
        "application/json;charset=UTF-8",
        "APPLICATION/JSON",
    ],
)
def test_what_is_declared_as_json(paths: Paths, plenty: str, content_type: str) -> None:
    for method, path, body in paths.values():
        assert _declared(method, path, plenty, body, content_type).status_code in (200, 201)


@pytest.mark.contract("body.depth", "body.size", "body.surrogates")
def test_what_just_fits(plenty: str, paths: Paths) -> None:
    context = json.loads(nested(31))
    fitting = [
        padded(LOOP, 256 * 1024),
        json.dumps({**LOOP, "x": json.loads(nested(31))}).encode(),
        b'{"name": "\\ud83d\\ude00", "icon": "\\u00e9"}',
        b'{"name": "x", "icon": "y", "x": 1e308}',
        b' \n{"name": "x", "icon": "y"}\n ',
    ]
    for raw in fitting:
        assert send("POST", "/v1/api/loops", f"Bearer {plenty}", raw).status_code == 201
    method, path, body = paths["create request"]
    answer = _declared(method, path, plenty, {**body, "context": context}, "application/json")
    assert answer.status_code == 201


@pytest.mark.parametrize("coding", ["gzip", "br", "x\x07y"])
def test_a_compressed_body(paths: Paths, plenty: str, coding: str) -> None:
    detail = f"body must not be compressed, but is {coding.replace(chr(7), chr(0xFFFD))}"
    for method, path, body in paths.values():
        answer = _encoded(method, path, plenty, b"\x0b\x02\x80", coding)
        refused(answer, 400, "Invalid request body", detail)
        plain = json.dumps(body).encode()  # declared by mistake, and taken as ever
        assert _encoded(method, path, plenty, plain, coding).status_code in (200, 201)


def _encoded(method: str, path: str, key: str, raw: bytes, coding: str) -> Any:
    content: dict[str, Any] = {"HTTP_AUTHORIZATION": f"Bearer {key}"}
    content["HTTP_CONTENT_ENCODING"] = coding
    return Client().generic(method, path, raw, "application/json", **content)


class Broken(io.RawIOBase):
    """The input of a client that has gone."""

    def read(self, size: int = -1, /) -> bytes:
        raise OSError


def test_a_body_that_broke_off(paths: Paths, plenty: str) -> None:
    for method, path, _ in paths.values():
        sent: Any = {
            "wsgi.input": Broken(),
            "CONTENT_LENGTH": "5",
            "CONTENT_TYPE": "application/json",
            "HTTP_AUTHORIZATION": f"Bearer {plenty}",
        }
        answer: Any = Client().generic(method, path, **sent)
        refused(answer, 400, "Invalid request body", "body ended before its Content-Length")


@pytest.mark.contract("http.precedence")
def test_a_bad_body_comes_last(paths: Paths, member_key: str) -> None:
    sentences = {
        "update loop": "Only loop creator can update the loop",
        "create request": "Only loop creators can create requests",
        "feedback": "Access denied to this request",
    }
    for name, msg in sentences.items():
        method, path, _ = paths[name]
        refused(send(method, path, f"Bearer {member_key}", b"{"), 403, msg)


def _declared(
    method: str, path: str, key: str, body: dict[str, Any], content_type: str
) -> HttpResponse:
    raw = json.dumps(body).encode()
    return send(method, path, f"Bearer {key}", raw, content_type=content_type)
