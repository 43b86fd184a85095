"""The reviewer's comment, as programs read it, and the loop's rule about it; both are ours."""

import json
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from accounts.models import User
from loops.comment_rule import MAX_LENGTH, MAX_OPTIONS
from loops.models import Loop
from reviews import services
from reviews.models import Request
from tests.api.wire import Api, Ask, body_of, granted, refused
from webhooks.models import Delivery

pytestmark = pytest.mark.django_db

CREATED, UPDATED = "Loop created successfully with QR code", "Loop updated successfully"
READ = "Request retrieved successfully"
COMMENT = 'Line\n"two" </script> \u2028 😀 \x1f'
NO_OPTIONS = f"comment_required_for must be an array of at most {MAX_OPTIONS} options of 1 to 200"


def answer(request_id: str, reviewer: User, comment: str = "") -> None:
    request = services.read_request(request_id)
    services.answer_request(request=request, reviewer_id=reviewer.pk, answer="yes", comment=comment)


def test_single_reads_and_events_have_it(api: Api, plenty: str, member: User, ask: Ask) -> None:
    asked = ask(callback_url="https://agent.example/hook")
    path = f"/v1/api/requests/{asked}"
    assert granted(api(plenty).get(path), READ)["request"]["response_comment"] is None
    answer(asked, member, comment=COMMENT)
    assert granted(api(plenty).get(path), READ)["request"]["response_comment"] == COMMENT
    event = json.loads(bytes(Delivery.objects.get(subject_id=asked).body))
    assert event["response_comment"] == COMMENT
    assert event["data"]["request"]["response_comment"] == COMMENT


def test_lists_are_as_they_were(api: Api, plenty: str, member: User, ask: Ask, loop: Loop) -> None:
    answer(ask(), member, comment=COMMENT)
    for path in ("/v1/api/requests", f"/v1/api/loops/{loop.pk}/requests"):
        (row,) = body_of(api(plenty).get(path))["data"]["requests"]
        assert row["response_data"] == "yes"
        assert "response_comment" not in row


def test_only_an_answer_has_one(ask: Ask) -> None:
    asked = ask()
    with pytest.raises(IntegrityError), transaction.atomic():
        Request.objects.filter(pk=asked).update(response_comment="x")


def test_a_loop_mentions_its_rule_only_if_it_has_one(api: Api, owner_key: str) -> None:
    body = {"name": "Refunds", "icon": "star"}
    for own in (body, {**body, "comment_required_for": []}):
        loop = granted(api(owner_key).post("/v1/api/loops", own), CREATED, 201)["loop"]
        assert "comment_required_for" not in loop
    rule = {"comment_required_for": [" Decline", "refund", "Decline"]}
    loop = granted(api(owner_key).post("/v1/api/loops", {**body, **rule}), CREATED, 201)["loop"]
    assert loop["comment_required_for"] == ["Decline", "refund"]
    path = f"/v1/api/loops/{loop['id']}"
    shown = granted(api(owner_key).get(path), "Loop retrieved successfully")["loop"]
    assert shown["comment_required_for"] == ["Decline", "refund"]
    changed = granted(api(owner_key).put(path, {"comment_required_for": ["no"]}), UPDATED)["loop"]
    assert changed["comment_required_for"] == ["no"]
    ended = granted(api(owner_key).put(path, {"comment_required_for": []}), UPDATED)["loop"]
    assert "comment_required_for" not in ended


@pytest.mark.parametrize(
    ("value", "detail"),
    [
        ("no", "comment_required_for must be an array of strings"),
        ([1], "comment_required_for must be an array of strings"),
        ([" "], NO_OPTIONS),
        (["x" * (MAX_LENGTH + 1)], NO_OPTIONS),
        ([str(number) for number in range(MAX_OPTIONS + 1)], NO_OPTIONS),
    ],
)
def test_what_is_no_rule(api: Api, owner_key: str, loop: Loop, value: Any, detail: str) -> None:
    response = api(owner_key).put(f"/v1/api/loops/{loop.pk}", {"comment_required_for": value})
    shown = body_of(response)
    refused(response, 400, "Validation failed", shown["data"])
    assert shown["data"].startswith(detail)
