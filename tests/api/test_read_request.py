"""GET /api/requests/{id}."""

from datetime import datetime

import pytest

from accounts.models import User
from loops.models import Loop
from tests.api import moments
from tests.api.wire import NOWHERE, TIME, Api, Ask, granted, refused

pytestmark = pytest.mark.django_db

READ = "Request retrieved successfully"


@pytest.mark.contract(
    "read.request",
    "request.single",
    "request.id",
    "request.response_data",
    "request.response_by",
    "request.response_at",
    "timeout.answered_by",
)
def test_a_fresh_request(api: Api, plenty: str, owner: User, loop: Loop, ask: Ask) -> None:
    asked = ask()
    data = granted(api(plenty).get(f"/v1/api/requests/{asked}"), READ)
    assert set(data) == {"request"}
    shown = data["request"]
    times = {field: shown[field] for field in ("timeout_at", "created_at", "updated_at")}
    assert all(TIME.fullmatch(moment) for moment in times.values())
    assert shown == {
        "id": asked,
        "loop_id": loop.pk,
        "creator_id": owner.pk,
        "processing_type": "time-sensitive",
        "type": "markdown",
        "priority": "high",
        "request_text": "Shall we publish?",
        "image_url": None,
        "context": None,
        "response_type": "single_select",
        "response_config": {"options": ["yes", "no", "later"]},
        "default_response": "no",
        "platform": "api",
        "platform_version": None,
        "callback_url": None,
        "timeout_seconds": 3600,
        "status": "pending",
        "response_data": None,
        "response_by": None,
        "response_comment": None,
        "response_by_user": None,
        "response_at": None,
        "response_time_seconds": None,
        "answered_by": None,
        "claimed_by": None,
        "claimed_at": None,
        "broadcasted_to": 2,
        "notifications_sent": 0,
        "feedback": None,
        "texts_removed_at": None,
        **times,
    }


@pytest.mark.contract(
    "state.completed",
    "request.response_data",
    "request.response_by",
    "request.response_at",
    "request.response_time_seconds",
    "request.updated_at",
    "timeout.answered_by",
)
def test_an_answered_request(api: Api, plenty: str, member: User, ask: Ask) -> None:
    asked = ask()
    before = granted(api(plenty).get(f"/v1/api/requests/{asked}"), READ)["request"]
    moments.let_pass(asked, seconds=90)
    moments.answer(asked, member, "later")
    shown = granted(api(plenty).get(f"/v1/api/requests/{asked}"), READ)["request"]
    assert (shown["status"], shown["response_data"]) == ("completed", "later")
    assert (shown["response_by"], shown["answered_by"]) == (member.pk, "human")
    assert shown["response_by_user"] == {
        "id": member.pk,
        "name": member.name,
        "email": member.email,
    }
    assert TIME.fullmatch(shown["response_at"])
    span = datetime.fromisoformat(shown["response_at"]) - datetime.fromisoformat(
        shown["created_at"]
    )
    assert shown["response_time_seconds"] == span.total_seconds()
    assert shown["response_time_seconds"] >= 90
    assert shown["updated_at"] > before["updated_at"]


@pytest.mark.contract("read.allowed", "auth.request_rules")
def test_who_reads_it(
    api: Api, plenty: str, owner_key: str, member_key: str, outsider_key: str, ask: Ask
) -> None:
    path = f"/v1/api/requests/{ask()}"
    seen = [granted(api(key).get(path), READ) for key in (plenty, owner_key, member_key)]
    assert seen[0] == seen[1] == seen[2]
    refused(api(outsider_key).get(path), 403, "Access denied to this request")


@pytest.mark.contract("read.credentials")
def test_members_do_not_see_the_password_of_the_receiver(
    api: Api, plenty: str, owner_key: str, member_key: str, ask: Ask
) -> None:
    sent = "https://agent:s3cret@receiver.example:8443/hook?x=1#a@b"
    path = f"/v1/api/requests/{ask(callback_url=sent)}"
    for key in (plenty, owner_key):
        assert granted(api(key).get(path), READ)["request"]["callback_url"] == sent
    seen = granted(api(member_key).get(path), READ)["request"]["callback_url"]
    assert seen == "https://***@receiver.example:8443/hook?x=1#a@b"


@pytest.mark.contract("read.malformed", "status.400")
@pytest.mark.parametrize("request_id", ["x", "0" * 23, "0" * 25, "z" * 24, "%00", "%FF", "a%0a"])
def test_a_malformed_id(api: Api, owner_key: str, request_id: str) -> None:
    response = api(owner_key).get(f"/v1/api/requests/{request_id}")
    refused(response, 400, "Invalid request ID format")


@pytest.mark.contract("read.missing", "status.404")
def test_an_unknown_id(api: Api, owner_key: str, owner: User, loop: Loop) -> None:
    for request_id in (NOWHERE, loop.pk, owner.pk):
        response = api(owner_key).get(f"/v1/api/requests/{request_id}")
        refused(response, 404, "Request not found")


@pytest.mark.contract("envelope.ids")
def test_an_uppercase_id(api: Api, plenty: str, ask: Ask) -> None:
    asked = ask()
    data = granted(api(plenty).get(f"/v1/api/requests/{asked.upper()}"), READ)
    assert data["request"]["id"] == asked
