"""Paths, methods and headers that belong to no single endpoint."""

import json

import pytest
from django.conf import settings
from django.test import Client

from accounts.models import User
from tests.api.bodies import LOOP
from tests.api.operations import OPERATIONS
from tests.api.wire import NOWHERE, Api, body_of, granted, json_of, refused, send

pytestmark = pytest.mark.django_db

IDS = dict.fromkeys(("loop", "request", "user", "endpoint"), NOWHERE)
PATHS = sorted({operation.path for operation in OPERATIONS})
METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE", "BREW")


def allowed(path: str) -> set[str]:
    return {operation.method for operation in OPERATIONS if operation.path == path}


@pytest.mark.contract("http.unknown_path", "http.json_only", "http.base")
@pytest.mark.parametrize(
    "path",
    [
        "/v1",
        "/v1/",
        "/v1/nothing",
        "/v1/api",
        "/v1/api/loop",
        "/v1/api/loops/x/nothing",
        "/v1/api/requests/x/feedback/y",
        "/v1/test/x",
        "/v1/%00",
        "/v1/%ff%fe",
        "/v1/a%0Ab",
        "/v1/%E2%80%A8",
        "/v1/api/loops//members",
        "/v1/api//loops",
        "/v1//test",
        "/v1/TEST",
        "/v1/openapi.json",
        "/v1/admin/",
        "/v1/%3Cscript%3E",
        "/v1/../v1/x",
        "/v1/api/loops/" + "a" * 4000 + "/x",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_an_unknown_path(path: str, method: str, owner_key: str) -> None:
    refused(send(method, path), 404, "Not found")
    answer = send(method, path, f"Bearer {owner_key}", b"{")
    refused(answer, 404, "Not found")
    assert answer["X-RateLimit-Remaining"] == "100"


@pytest.mark.contract("http.method", "http.json_only", "quota.headers")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("path", PATHS)
def test_a_wrong_method(path: str, method: str, owner_key: str) -> None:
    methods = allowed(path)
    if method in methods or (method == "HEAD" and "GET" in methods):
        return
    address = path.format_map(IDS)
    for header in (None, f"Bearer {owner_key}"):
        answer = send(method, address, header)
        assert answer.status_code == 405
        assert set(answer["Allow"].split(", ")) - {"HEAD"} == methods
        if method == "HEAD":
            assert answer.content == b""
        else:
            refused(answer, 405, "Method not allowed")


@pytest.mark.contract("http.method")
@pytest.mark.parametrize("path", [path for path in PATHS if "GET" in allowed(path)])
def test_head_is_get_without_its_body(path: str, owner_key: str) -> None:
    address = path.format_map(IDS)
    head = send("HEAD", address, f"Bearer {owner_key}")
    get = send("GET", address, f"Bearer {owner_key}")
    assert (head.status_code, head.content) == (get.status_code, b"")
    assert send("HEAD", address).status_code == 401


@pytest.mark.contract("http.slash")
def test_a_trailing_slash(api: Api, owner_key: str) -> None:
    granted(api(owner_key).get("/v1/test/"), "API key is valid")
    response = api(owner_key).post("/v1/api/loops/", LOOP)
    loop = granted(response, "Loop created successfully with QR code", status=201)["loop"]
    path = f"/v1/api/loops/{loop['id']}"
    granted(api(owner_key).get(f"{path}/"), "Loop retrieved successfully")
    granted(api(owner_key).put(f"{path}/", {"name": "x"}), "Loop updated successfully")
    granted(api(owner_key).get(f"{path}/members/"), "Loop members retrieved successfully")
    granted(api(owner_key).get(f"{path}/requests/?limit=1"), "Loop requests retrieved successfully")
    granted(api(owner_key).get("/v1/api/requests/?limit=1"), "Requests retrieved successfully")
    refused(api(owner_key).get(f"/v1/api/requests/{NOWHERE}/"), 404, "Request not found")
    response = api(owner_key).post(f"/v1/api/requests/{NOWHERE}/feedback/", {})
    refused(response, 404, "Request not found")
    granted(api(owner_key).delete(f"{path}/"), "Loop deleted successfully")


@pytest.mark.contract("http.json_only")
@pytest.mark.parametrize(
    "accept", ["text/html", "application/xml", "", "*/*", "nonsense", "a/b;q=x"]
)
def test_accept_is_ignored(owner_key: str, accept: str) -> None:
    for path, status in (("/v1/test", 200), ("/v1/nothing", 404), ("/v1/api/loops/x", 400)):
        answer = send("GET", path, f"Bearer {owner_key}", Accept=accept)
        assert (answer.status_code, answer["Content-Type"]) == (status, "application/json")
    answer = send("GET", "/v1/api/loops?format=html", f"Bearer {owner_key}")
    granted(answer, "Loops retrieved successfully")


@pytest.mark.contract("http.json_only", "http.unknown_host")
@pytest.mark.parametrize("path", ["/v1/test", "/v1/nothing", f"/v1/api/requests/{NOWHERE}"])
@pytest.mark.parametrize(
    "host", ["elsewhere.example", "a b", "testserver:x", "192.168.1.7:8000", ""]
)
def test_an_unknown_host(owner_key: str, path: str, host: str) -> None:
    """It says what is wrong, and reports no quota: a client would wait for the next hour."""
    answer = send("GET", path, f"Bearer {owner_key}", Host=host)
    assert (answer.status_code, json_of(answer)["msg"]) == (400, "Unknown host")
    detail = json_of(answer)["data"]
    assert repr(host) in detail
    assert settings.SITE_URL in detail
    assert not [name for name in answer.headers if "RateLimit" in name]


BESIDE = ("/api/loops", "/v2/api/loops", "//v1/test", "/v1x", "/V1/test")


@pytest.mark.contract("http.beside")
@pytest.mark.parametrize("path", BESIDE)
@pytest.mark.parametrize(
    ("method", "raw", "headers"),
    [
        ("GET", b"", {"Accept": "application/json"}),
        ("GET", b"", {"Accept": "application/json, text/plain, */*"}),
        ("POST", b"{}", {}),
    ],
)
def test_a_program_beside_the_api(
    path: str, method: str, raw: bytes, headers: dict[str, str]
) -> None:
    kind = "application/json" if raw else "text/plain"
    answer = send(method, path, raw=raw, content_type=kind, **headers)
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/json")
    assert json_of(answer) == {"error": True, "msg": "Not found", "data": {}}
    assert not [name for name in answer.headers if "RateLimit" in name]


@pytest.mark.contract("http.beside")
@pytest.mark.parametrize("accept", ["", "*/*", "text/html,application/xhtml+xml,*/*;q=0.8"])
def test_a_browser_beside_the_api(accept: str) -> None:
    answer = send("GET", "/api/loops", content_type="", Accept=accept)
    assert (answer.status_code, answer["Content-Type"]) == (404, "text/html; charset=utf-8")


@pytest.mark.contract("http.beside")
def test_a_program_beside_the_api_at_an_unknown_host() -> None:
    answer = send("GET", "/api/loops", Accept="application/json", Host="elsewhere.example")
    assert (answer.status_code, json_of(answer)["msg"]) == (400, "Unknown host")


@pytest.mark.contract("http.json_only")
@pytest.mark.parametrize(
    ("method", "path", "host"),
    [
        ("GET", "/v1/test", "testserver"),
        ("GET", f"/v1/api/requests/{NOWHERE}", "testserver"),
        ("GET", "/v1/nothing", "testserver"),
        ("PUT", "/v1/test", "testserver"),
        ("GET", "/v1/test", "elsewhere.example"),
    ],
)
def test_no_browser_makes_a_page_of_an_answer(
    owner_key: str, method: str, path: str, host: str
) -> None:
    answer = send(method, path, f"Bearer {owner_key}", Host=host)
    expected = {
        "Cache-Control": "no-store",
        "Content-Length": str(len(answer.content)),
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
        "Content-Type": "application/json",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Referrer-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }
    spoken = {name: value for name, value in answer.items() if "RateLimit" not in name}
    assert {name: spoken.pop(name) for name in expected} == expected
    assert set(spoken) <= {"Allow", "X-Request-Id"}


@pytest.mark.contract("http.ignored_bodies")
@pytest.mark.parametrize("raw", [b"{", b"\xff\xfe", b'{"a": 1e999}', b"x" * 300_000])
def test_bodies_of_get_and_delete_are_ignored(owner_key: str, raw: bytes) -> None:
    answer = send("GET", "/v1/test", f"Bearer {owner_key}", raw, content_type="text/plain")
    granted(answer, "API key is valid")
    answer = send("DELETE", f"/v1/api/requests/{NOWHERE}", f"Bearer {owner_key}", raw)
    refused(answer, 404, "Request not found")


@pytest.mark.contract("http.openapi")
def test_the_document_is_outside() -> None:
    response = Client().get("/openapi.json")
    assert response.status_code == 200
    assert json.loads(response.content)["openapi"].startswith("3.1")


@pytest.mark.contract("envelope.error", "envelope.msg", "envelope.data", "envelope.keys")
def test_the_envelope(api: Api, owner_key: str) -> None:
    assert json_of(api(owner_key).get("/v1/api/loops")) == {
        "error": False,
        "msg": "Loops retrieved successfully",
        "data": {"loops": [], "count": 0},
    }
    assert json_of(api(owner_key).get("/v1/api/loops/x")) == {
        "error": True,
        "msg": "Invalid loop ID format",
        "data": {},
    }
    assert json_of(api(owner_key).get("/v1/api/requests?limit=0")) == {
        "error": True,
        "msg": "Validation failed",
        "data": "limit must be between 1 and 100",
    }


def test_a_session_is_no_key(owner: User) -> None:
    browser = Client()
    browser.force_login(owner)
    refused(browser.get("/v1/test"), 401, "Missing Authorization header")  # type: ignore[arg-type]


def test_no_cookie_is_ever_set(owner_key: str) -> None:
    answer = send("GET", "/v1/test", f"Bearer {owner_key}")
    assert body_of(answer)["error"] is False
    assert not answer.cookies
