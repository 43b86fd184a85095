"""POST /api/loops/{loopId}/requests: what it accepts, and its responses."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from pytest_django import Settings

from accounts.models import User
from loops.models import Loop
from loops.services import invite_member
from reviews.models import Request
from tests.api.bodies import QUESTION, TYPES, of_type, question, without
from tests.api.wire import ID, NOWHERE, TIME, Api, granted, refused

pytestmark = pytest.mark.django_db

CREATED = "Request created and broadcasted successfully"


@pytest.mark.contract(
    "create.request_id",
    "create.status",
    "create.echo",
    "create.timeout_at",
    "create.broadcasted_to",
    "create.notifications_sent",
    "create.polling_url",
    "create.msg",
    "http.codes",
    "version.polling",
    "version.base",
    "http.base",
    "state.created",
)
def test_it_answers_with_the_broadcast(
    api: Api, owner_key: str, loop: Loop, settings: Settings
) -> None:
    invite_member(loop=loop, email="new@example.org")
    response = api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", QUESTION)
    data = granted(response, CREATED, status=201)
    assert ID.fullmatch(data["request_id"])
    assert TIME.fullmatch(data["timeout_at"])
    assert data == {
        "request_id": data["request_id"],
        "status": "pending",
        "processing_type": "time-sensitive",
        "type": "markdown",
        "priority": "high",
        "timeout_at": data["timeout_at"],
        "broadcasted_to": 2,
        "notifications_sent": 0,
        "polling_url": f"/v1/api/requests/{data['request_id']}",
    }
    assert response["Link"] == f'<{settings.SITE_URL}/docs/api.md#which-way-to-wait>; rel="help"'
    read = api(owner_key).get(data["polling_url"])
    assert read.status_code == 200
    assert "Link" not in read


@pytest.mark.contract(
    "create.processing_type", "create.type", "create.priority", "create.platform", "request.type"
)
@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("processing_type", value) for value in ("time-sensitive", "deferred")),
        ("type", "markdown"),
        *(("priority", value) for value in ("low", "medium", "high", "critical")),
        *(("platform", value) for value in ("web_portal", "api", "mobile")),
        *(("platform", value) for value in ("webhook", "n8n", "zapier")),
    ],
)
def test_the_enumerations(api: Api, owner_key: str, loop: Loop, field: str, value: str) -> None:
    assert _stored(api, owner_key, loop, question(**{field: value}))[field] == value


@pytest.mark.contract("create.response_type", "create.response_config", "config.text")
@pytest.mark.parametrize("response_type", list(TYPES))
def test_the_answer_types(api: Api, owner_key: str, loop: Loop, response_type: str) -> None:
    body = of_type(response_type)
    shown = _stored(api, owner_key, loop, body)
    for field in ("response_type", "response_config", "default_response"):
        assert shown[field] == body[field]


@pytest.mark.contract("create.request_text", "body.untrimmed", "body.code_points")
@pytest.mark.parametrize("text", ["x", "x" * 2000, "😀" * 2000, " \n# kept ", "<script>"])
def test_texts_it_takes(api: Api, owner_key: str, loop: Loop, text: str) -> None:
    assert _stored(api, owner_key, loop, question(request_text=text))["request_text"] == text


@pytest.mark.contract("create.timeout_seconds", "body.types")
@pytest.mark.parametrize("seconds", [60, 61, 86400, 60.0])
@pytest.mark.parametrize("processing_type", ["time-sensitive", "deferred"])
def test_timeouts_it_takes(
    api: Api, owner_key: str, loop: Loop, processing_type: str, seconds: float
) -> None:
    body = question(processing_type=processing_type, timeout_seconds=seconds)
    shown = _stored(api, owner_key, loop, body)
    assert (shown["timeout_seconds"], type(shown["timeout_seconds"])) == (int(seconds), int)
    assert _span(shown) == timedelta(seconds=seconds)


@pytest.mark.contract("create.deferred")
@pytest.mark.parametrize("absent", [without(QUESTION, "timeout_seconds"), QUESTION])
def test_deferred_waits_thirty_days(
    api: Api, owner_key: str, loop: Loop, absent: dict[str, Any]
) -> None:
    body = {**absent, "processing_type": "deferred"}
    expected = timedelta(hours=1) if "timeout_seconds" in body else timedelta(days=30)
    assert _span(_stored(api, owner_key, loop, body)) == expected


@pytest.mark.contract(
    "create.image_url", "create.callback_url", "create.context", "create.platform_version"
)
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("image_url", "https://example.org/a.png"),
        ("image_url", "http://example.org/" + "a" * (2048 - 19)),
        ("image_url", "http://localhost:8000/ü.png?a=b#c"),
        ("callback_url", "https://example.org/hook"),
        ("callback_url", "http://127.0.0.1:9/hook"),
        ("callback_url", "HTTPS://EXAMPLE.org/" + "a" * (2048 - 20)),
        ("context", {}),
        ("context", {"deep": [{"er": None}], "number": 1.5, "": True}),
        ("platform_version", "1.2.3"),
        ("platform_version", ""),
    ],
)
def test_the_optional_fields(api: Api, owner_key: str, loop: Loop, field: str, value: Any) -> None:
    assert _stored(api, owner_key, loop, question(**{field: value}))[field] == value


@pytest.mark.contract("create.empty_url")
@pytest.mark.parametrize("field", ["image_url", "callback_url"])
def test_an_empty_url_counts_as_absent(api: Api, owner_key: str, loop: Loop, field: str) -> None:
    assert _stored(api, owner_key, loop, question(**{field: ""}))[field] is None


@pytest.mark.contract("create.image_url", "request.type")
def test_an_image(api: Api, owner_key: str, loop: Loop) -> None:
    body = question(type="image", image_url="https://example.org/a.png")
    shown = _stored(api, owner_key, loop, body)
    assert (shown["type"], shown["image_url"]) == ("image", "https://example.org/a.png")


@pytest.mark.contract("body.unknown_fields")
def test_unknown_fields_are_ignored(api: Api, owner_key: str, loop: Loop) -> None:
    body = question(tags=["a"], prompt="x", status="completed", response_data="yes", id=NOWHERE)
    shown = _stored(api, owner_key, loop, body)
    assert (shown["status"], shown["response_data"]) == ("pending", None)
    assert "tags" not in shown
    assert shown["id"] != NOWHERE


@pytest.mark.contract("create.denied", "auth.request_rules")
def test_only_the_creator(api: Api, member_key: str, outsider_key: str, loop: Loop) -> None:
    for key in (member_key, outsider_key):
        response = api(key).post(f"/v1/api/loops/{loop.pk}/requests", QUESTION)
        refused(response, 403, "Only loop creators can create requests")
    assert not Request.objects.exists()


@pytest.mark.contract("create.missing", "create.malformed")
def test_ids(api: Api, owner_key: str, owner: User) -> None:
    response = api(owner_key).post(f"/v1/api/loops/{owner.pk}/requests", QUESTION)
    refused(response, 404, "Loop not found")
    response = api(owner_key).post("/v1/api/loops/x/requests", QUESTION)
    refused(response, 400, "Invalid loop ID format")


def _stored(api: Api, key: str, loop: Loop, body: dict[str, Any]) -> dict[str, Any]:
    """The single read of a request created with `body`."""
    response = api(key).post(f"/v1/api/loops/{loop.pk}/requests", body)
    data = granted(response, CREATED, status=201)
    shown = granted(api(key).get(data["polling_url"]), "Request retrieved successfully")["request"]
    assert shown["timeout_at"] == data["timeout_at"]
    assert isinstance(shown, dict)
    return shown


def _span(shown: dict[str, Any]) -> timedelta:
    """From creation to the deadline."""
    return datetime.fromisoformat(shown["timeout_at"]) - datetime.fromisoformat(shown["created_at"])
