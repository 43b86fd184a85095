"""Bodies that are not a JSON object, on every operation that reads one."""

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
from tests.api.wire import Ask, refused, send

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


BAD = {
    "empty": b"",
    "blank": b"  ",
    "broken": b'{"name": "x"',
    "twice": b"{}{}",
    "single quotes": b"{'name': 'x'}",
    "trailing comma": b'{"name": "x",}',
    "array": b'[{"name": "x"}]',
    "string": b'"name"',
    "number": b"5",
    "true": b"true",
    "null": b"null",
    "latin-1": '{"name": "ü"}'.encode("latin-1"),
    "utf-16": '{"name": "x"}'.encode("utf-16"),
    "two byte order marks": b'\xef\xbb\xbf\xef\xbb\xbf{"name": "x"}',
    "utf-16 with its mark": '\ufeff{"name": "x"}'.encode("utf-16-le"),
    "form": b"name=x&icon=y",
    "NUL escaped": b'{"name": "a\\u0000b"}',
    "NUL escaped, deep": b'{"x": [{"y": "\\u0000"}]}',
    "NUL in a key": b'{"a\\u0000": 1}',
    "NUL raw": b'{"name": "a\x00b"}',
    "lone high surrogate": b'{"name": "\\ud800"}',
    "lone low surrogate": b'{"x": {"y": ["\\udfff"]}}',
    "surrogates reversed": b'{"name": "\\ude00\\ud83d"}',
    "surrogate in a key": b'{"\\ud800": 1}',
    "surrogate raw": b'{"name": "\xed\xa0\x80"}',
    "NaN": b'{"x": NaN}',
    "Infinity": b'{"x": Infinity}',
    "-Infinity": b'{"x": [-Infinity]}',
    "1e999": b'{"x": 1e999}',
    "-1e999": b'{"x": {"y": -1e999}}',
    "a long integer": b'{"x": 1' + b"0" * 400 + b"}",
    "a longer integer": b'{"x": 1' + b"0" * 5000 + b"}",
    "33 levels": nested(33),
    "33 levels of arrays": b'{"x":' + b"[" * 32 + b"]" * 32 + b"}",
    "100,000 levels": b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "100,000 open levels": b'{"x":' + b"[" * 100_000,
    "256 KiB and one byte": padded(LOOP, 256 * 1024 + 1),
    "a megabyte": b"x" * 1_000_000,
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
@pytest.mark.parametrize("raw", list(BAD.values()), ids=list(BAD))
def test_what_is_no_object(paths: Paths, plenty: str, loop: Loop, raw: bytes) -> None:
    for method, path, _ in paths.values():
        answer = send(method, path, f"Bearer {plenty}", raw)
        if method == "PUT" and not raw.strip():
            refused(answer, 400, "At least one field must be provided for update")
        else:
            refused(answer, 400, "Invalid request body")
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
        refused(answer, 400, "Invalid request body")
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


def test_a_chunked_body(paths: Paths, plenty: str) -> None:
    for method, path, body in paths.values():
        chunked = {
            "wsgi.input": io.BytesIO(json.dumps(body).encode()),
            "wsgi.input_terminated": True,
            "CONTENT_TYPE": "application/json",
            "HTTP_TRANSFER_ENCODING": "chunked",
            "HTTP_AUTHORIZATION": f"Bearer {plenty}",
        }
        assert Client().generic(method, path, **chunked).status_code in (200, 201)  # type: ignore[arg-type]


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
