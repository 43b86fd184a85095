"""POST /api/loops/{loopId}/requests: what it refuses, and which fault it names."""

from typing import Any

import pytest

from loops.models import Loop
from reviews.models import Request
from tests.api.bodies import QUESTION, question, without
from tests.api.wire import Api, refused

pytestmark = pytest.mark.django_db

INVALID = "Validation failed"
REQUIRED = "timeout_seconds is required for time-sensitive requests"
MISSING = [
    ("processing_type", INVALID, "processing_type is required"),
    ("type", INVALID, "type is required"),
    ("priority", INVALID, "priority is required"),
    ("request_text", "Request text is required", {}),
    ("timeout_seconds", REQUIRED, {}),
    ("response_type", INVALID, "response_type is required"),
    ("response_config", INVALID, "response_config is required"),
    ("default_response", INVALID, "default_response is required"),
    ("platform", INVALID, "platform is required"),
]


@pytest.mark.contract(
    "body.missing_field",
    "create.processing_type",
    "create.type",
    "create.priority",
    "create.text_required",
    "create.timeout_required",
    "create.response_type",
    "create.response_config",
    "create.default_response",
    "create.platform",
)
@pytest.mark.parametrize(("field", "msg", "data"), MISSING)
def test_a_missing_field(
    api: Api, owner_key: str, loop: Loop, field: str, msg: str, data: str | dict[str, Any]
) -> None:
    path = f"/v1/api/loops/{loop.pk}/requests"
    refused(api(owner_key).post(path, without(QUESTION, field)), 400, msg, data)
    if field != "default_response":  # may be any value, and null is one
        refused(api(owner_key).post(path, question(**{field: None})), 400, msg, data)
    assert not Request.objects.exists()


@pytest.mark.contract("create.text_required", "body.blank")
@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u2003"])
def test_a_blank_text_is_missing(api: Api, owner_key: str, loop: Loop, text: str) -> None:
    response = api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", question(request_text=text))
    refused(response, 400, "Request text is required")


@pytest.mark.contract("create.image_required")
@pytest.mark.parametrize("absent", [{}, {"image_url": None}, {"image_url": ""}])
def test_an_image_needs_its_url(
    api: Api, owner_key: str, loop: Loop, absent: dict[str, Any]
) -> None:
    response = api(owner_key).post(
        f"/v1/api/loops/{loop.pk}/requests", question(type="image", **absent)
    )
    refused(response, 400, "Image URL is required when type is image")


PROCESSING = "processing_type must be one of: time-sensitive, deferred"
TYPE = "type must be one of: markdown, image"
PRIORITY = "priority must be one of: low, medium, high, critical"
RESPONSE = (
    "response_type must be one of: text, single_select, multi_select, rating, number, form, "
    "approval"
)
PLATFORM = "platform must be one of: web_portal, api, mobile, webhook, n8n, zapier"
TEXT = "request_text must be between 1 and 2000 characters"
TIMEOUT = "timeout_seconds must be an integer between 60 and 86400"
IMAGE = "image_url must be an absolute http or https URL of at most 2048 characters"
CALLBACK = "callback_url must be an absolute http or https URL of at most 2048 characters"
BAD_TIMEOUTS: list[Any] = [59, 86401, 0, -60, 60.5, 1e300, "60", True, [60], {}, 10**40]
NO_OBJECTS: list[Any] = ["x", [], 5, True]


@pytest.mark.contract(
    "create.validation", "body.details", "body.types", "create.timeout_seconds", "create.context"
)
@pytest.mark.parametrize(
    ("field", "value", "detail"),
    [
        *(("processing_type", value, PROCESSING) for value in ("Deferred", "", "deferred ")),
        *(("type", value, TYPE) for value in ("text", "MARKDOWN", "")),
        *(("priority", value, PRIORITY) for value in ("urgent", "High", "")),
        *(("response_type", value, RESPONSE) for value in ("boolean", "Text", "")),
        *(("platform", value, PLATFORM) for value in ("ios", "API", "")),
        *((field, 5, f"{field} must be a string") for field in ("request_text", "image_url")),
        ("request_text", ["x"], "request_text must be a string"),
        ("request_text", "x" * 2001, TEXT),
        ("request_text", "😀" * 2001, TEXT),
        *(("timeout_seconds", value, TIMEOUT) for value in BAD_TIMEOUTS),
        *(("context", value, "context must be an object") for value in NO_OBJECTS),
        *(("response_config", value, "response_config must be an object") for value in NO_OBJECTS),
        ("platform_version", 5, "platform_version must be a string"),
        ("callback_url", 5, "callback_url must be a string"),
    ],
)
def test_bounds_types_and_enumerations(
    api: Api, owner_key: str, loop: Loop, field: str, value: Any, detail: str
) -> None:
    response = api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", question(**{field: value}))
    refused(response, 400, "Validation failed", detail)
    assert not Request.objects.exists()


@pytest.mark.contract("create.validation", "body.types")
@pytest.mark.parametrize(
    ("field", "detail"),
    [
        ("processing_type", PROCESSING),
        ("type", TYPE),
        ("priority", PRIORITY),
        ("response_type", RESPONSE),
        ("platform", PLATFORM),
    ],
)
@pytest.mark.parametrize("value", [5, True, ["api"], {}])
def test_mistyped_enumerations(
    api: Api, owner_key: str, loop: Loop, field: str, detail: str, value: Any
) -> None:
    response = api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", question(**{field: value}))
    refused(response, 400, "Validation failed", detail)


@pytest.mark.contract("create.image_url", "create.callback_url", "create.validation")
@pytest.mark.parametrize(
    "url",
    [
        "example.org/a.png",
        "/a.png",
        "//example.org/a.png",
        "ftp://example.org/a.png",
        "javascript:alert(1)",
        "data:image/png;base64,AAAA",
        "http://",
        "http:///a.png",
        "https://example.org/" + "a" * 2029,
        "http://[::1",
        "http://example.org:port/",
    ],
)
def test_urls_it_does_not_take(api: Api, owner_key: str, loop: Loop, url: str) -> None:
    path = f"/v1/api/loops/{loop.pk}/requests"
    refused(api(owner_key).post(path, question(image_url=url)), 400, "Validation failed", IMAGE)
    response = api(owner_key).post(path, question(callback_url=url))
    refused(response, 400, "Validation failed", CALLBACK)


@pytest.mark.contract("http.first_fault")
def test_the_first_fault_in_the_order_of_the_table_wins(api: Api, plenty: str, loop: Loop) -> None:
    path = f"/v1/api/loops/{loop.pk}/requests"
    broken: dict[str, Any] = {
        "metadata": 5,
        "callback_url": "x",
        "platform_version": 5,
        "context": 5,
        "timeout_seconds": None,
    }
    named: list[tuple[str, str, Any]] = [
        ("processing_type", INVALID, "processing_type is required"),
        ("type", INVALID, "type is required"),
        ("priority", INVALID, "priority is required"),
        ("request_text", "Request text is required", {}),
        ("image_url", "Image URL is required when type is image", {}),
        ("context", INVALID, "context must be an object"),
        ("timeout_seconds", REQUIRED, {}),
        ("response_type", INVALID, "response_type is required"),
        ("response_config", INVALID, "response_config is required"),
        ("default_response", INVALID, "default_response is required"),
        ("platform", INVALID, "platform is required"),
        ("platform_version", INVALID, "platform_version must be a string"),
        ("callback_url", INVALID, CALLBACK),
        ("metadata", INVALID, "metadata must be an object"),
    ]
    right = {
        **question(type="image", image_url="https://example.org/a.png", context={}),
        "platform_version": "1",
        "callback_url": "https://example.org/",
        "metadata": {},
    }
    body = dict(broken)
    for field, msg, data in named:
        refused(api(plenty).post(path, body), 400, msg, data)
        body[field] = right[field]
    assert api(plenty).post(path, body).status_code == 201
