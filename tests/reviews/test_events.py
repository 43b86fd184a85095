"""The body of events, key by key (docs/webhooks.md)."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.db import IntegrityError, transaction
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from accounts.models import User
from api.openapi.webhook_schema import build_webhook_schema
from loops.models import Loop
from reviews import services, tasks
from reviews.models import Request
from tests.conftest import Api
from tests.reviews.conftest import FIELDS, Make, let_lease_run_out, make_overdue
from webhooks.models import Delivery

pytestmark = pytest.mark.django_db
HOOK = "https://user:pw@receiver.example:8443/hook?x=1"
# in the order in which they are sent
KEYS = [
    "event", "request_id", "loop_id", "status", "response_data", "response_by", "completed_at",
    "response_at", "response_time_seconds", "response_comment", "created_at", "timestamp", "data",
]  # fmt: skip


def told(request: Request) -> list[dict[str, Any]]:
    """The bodies of the request's events, in the order of the outbox."""
    rows = Delivery.objects.filter(subject_id=request.pk).order_by("created_at", "id")
    bodies = [json.loads(bytes(row.body)) for row in rows]
    for body in bodies:
        Draft202012Validator(build_webhook_schema()).validate(body)
    return bodies


@pytest.fixture
def asked(make: Make) -> Request:
    return make(callback_url=HOOK, context={"order": "Größe ✓", "n": 1e308})


@pytest.fixture
def read(api: type[Api], owner_key: str) -> Callable[[Request], Any]:
    """The single read, as the API gives it to the creator."""
    client = api(owner_key)
    return lambda request: client.get(f"/v1/api/requests/{request.pk}").json()["data"]["request"]


def check(body: dict[str, Any], single_read: dict[str, Any], loop: Loop) -> None:
    """What every event has in common."""
    assert list(body) == KEYS
    assert list(body["data"]) == ["request", "loop", "reviewer"]
    hidden = {"callback_url": "https://***@receiver.example:8443/hook?x=1"}
    assert single_read["callback_url"] == HOOK
    assert body["data"]["request"] == {**single_read, **hidden}
    assert list(body["data"]["request"]) == list(single_read)
    assert body["data"]["loop"] == {"id": loop.pk, "name": "Refund desk"}
    assert body["request_id"] == single_read["id"]
    for key in (
        "loop_id", "status", "response_data", "response_by", "response_at",
        "response_time_seconds", "response_comment", "created_at",
    ):  # fmt: skip
        assert body[key] == single_read[key], key
    assert body["timestamp"] >= single_read["updated_at"]


def test_completed(
    asked: Request, member: User, loop: Loop, read: Callable[[Request], Any]
) -> None:
    services.answer_request(request=asked, reviewer_id=member.pk, answer="yes")
    (body,) = told(asked)
    check(body, read(asked), loop)
    assert (body["event"], body["status"]) == ("request.completed", "completed")
    assert (body["response_data"], body["response_by"]) == ("yes", member.pk)
    assert body["completed_at"] == body["response_at"] is not None
    assert body["response_time_seconds"] >= 0
    person = {"name": "Member", "email": "member@example.com"}
    assert body["data"]["reviewer"] == {"user_id": member.pk, **person, "verified": True}
    assert body["data"]["request"]["response_by_user"] == {"id": member.pk, **person}
    assert body["data"]["request"]["answered_by"] == "human"
    assert body["data"]["request"]["context"] == {"order": "Größe ✓", "n": 1e308}


def test_claimed(asked: Request, member: User, loop: Loop, read: Callable[[Request], Any]) -> None:
    services.claim_request(request=asked, reviewer_id=member.pk)
    (body,) = told(asked)
    check(body, read(asked), loop)
    assert (body["event"], body["status"]) == ("request.claimed", "claimed")
    for key in ("response_data", "response_by", "completed_at", "response_at"):
        assert body[key] is None
    assert body["data"]["request"]["claimed_by"] == member.pk
    assert body["data"]["request"]["claimed_at"] is not None
    assert body["data"]["reviewer"] == {
        "user_id": member.pk, "name": "Member", "email": "member@example.com", "verified": True,
    }  # fmt: skip


def test_a_reviewer_whose_address_is_not_confirmed(asked: Request, member: User) -> None:
    EmailAddress.objects.filter(user=member).update(verified=False)
    services.answer_request(request=asked, reviewer_id=member.pk, answer="yes")
    (body,) = told(asked)
    assert body["data"]["reviewer"]["verified"] is False


@pytest.mark.parametrize("claimed", [False, True])
def test_timeout(
    asked: Request, member: User, loop: Loop, read: Callable[[Request], Any], claimed: bool
) -> None:
    if claimed:
        services.claim_request(request=asked, reviewer_id=member.pk)
    make_overdue(asked)
    assert tasks.settle_overdue() == 1
    body = told(asked)[-1]
    check(body, read(asked), loop)
    assert (body["event"], body["status"]) == ("request.timeout", "timeout")
    assert (body["response_data"], body["response_by"], body["response_at"]) == ("no", None, None)
    assert body["completed_at"] == body["data"]["request"]["timeout_at"]
    assert body["data"]["request"]["answered_by"] == "default"
    assert body["data"]["request"]["claimed_by"] is None
    assert body["data"]["reviewer"] is None


def test_cancelled(asked: Request, owner: User, loop: Loop, read: Callable[[Request], Any]) -> None:
    services.cancel_request(request_id=asked.pk, account_id=owner.pk)
    (body,) = told(asked)
    check(body, read(asked), loop)
    assert (body["event"], body["status"]) == ("request.cancelled", "cancelled")
    assert (body["response_data"], body["response_by"], body["response_at"]) == (None, None, None)
    assert body["completed_at"] == body["data"]["request"]["updated_at"]
    assert body["data"]["request"]["answered_by"] is None
    assert body["data"]["reviewer"] is None


def test_a_deleted_loop_cancels_with_an_event_for_each(
    make: Make, member: User, loop: Loop, read: Callable[[Request], Any]
) -> None:
    pending, claimed, silent = make(callback_url=HOOK), make(callback_url=HOOK), make()
    services.claim_request(request=claimed, reviewer_id=member.pk)
    services.delete_loop(loop_id=loop.pk, account_id=loop.creator_id)
    assert [body["event"] for body in told(pending)] == ["request.cancelled"]
    assert [body["event"] for body in told(claimed)] == ["request.claimed", "request.cancelled"]
    assert told(silent) == []
    for request in (pending, claimed):
        check(told(request)[-1], read(request), loop)
    assert told(claimed)[-1]["data"]["reviewer"] is None


def test_the_row_of_the_outbox(asked: Request, owner: User, member: User) -> None:
    services.answer_request(request=asked, reviewer_id=member.pk, answer="yes")
    row = Delivery.objects.get()
    assert (row.account_id, row.event, row.subject_id, row.url, row.host, row.state) == (
        owner.pk, "request.completed", asked.pk, HOOK, "receiver.example:8443", "waiting",
    )  # fmt: skip
    assert "Größe ✓".encode() in bytes(row.body)


def test_without_a_callback_url_nobody_is_told(make: Make, owner: User, member: User) -> None:
    answered, cancelled, overdue = make(), make(), make()
    services.claim_request(request=answered, reviewer_id=member.pk)
    services.answer_request(request=answered, reviewer_id=member.pk, answer="yes")
    services.cancel_request(request_id=cancelled.pk, account_id=owner.pk)
    make_overdue(overdue)
    tasks.settle_overdue()
    assert not Delivery.objects.exists()


def test_one_event_for_each_claim_and_one_for_the_end(
    asked: Request, owner: User, member: User
) -> None:
    services.claim_request(request=asked, reviewer_id=member.pk)
    services.claim_request(request=asked, reviewer_id=member.pk)  # renewed
    services.release_claim(request=asked, reviewer_id=member.pk)
    services.claim_request(request=asked, reviewer_id=owner.pk)
    let_lease_run_out(asked)
    assert tasks.release_lapsed() == 1
    services.claim_request(request=asked, reviewer_id=member.pk)
    let_lease_run_out(asked)  # and taken over before any sweep
    services.claim_request(request=asked, reviewer_id=owner.pk)
    services.answer_request(request=asked, reviewer_id=owner.pk, answer="no")
    services.answer_request(request=asked, reviewer_id=owner.pk, answer="no")  # a second time
    make_overdue(asked)
    assert tasks.settle_overdue() == 0
    bodies = told(asked)
    assert [body["event"] for body in bodies] == ["request.claimed"] * 4 + ["request.completed"]
    claimers = [body["data"]["reviewer"]["user_id"] for body in bodies]
    assert claimers == [member.pk, owner.pk, member.pk, owner.pk, owner.pk]


def test_a_lost_race_tells_nothing(asked: Request, owner: User, member: User) -> None:
    services.answer_request(request=asked, reviewer_id=member.pk, answer="yes")
    late: list[Callable[[], object]] = [
        lambda: services.answer_request(request=asked, reviewer_id=owner.pk, answer="no"),
        lambda: services.claim_request(request=asked, reviewer_id=owner.pk),
        lambda: services.cancel_request(request_id=asked.pk, account_id=owner.pk),
    ]
    for attempt in late:
        with pytest.raises(services.TransitionLost):
            attempt()
    assert len(told(asked)) == 1


def test_the_bytes_are_frozen(asked: Request, member: User, loop: Loop) -> None:
    services.answer_request(request=asked, reviewer_id=member.pk, answer="yes")
    before = bytes(Delivery.objects.get().body)
    User.objects.filter(pk=member.pk).update(name="Renamed")
    Loop.objects.filter(pk=loop.pk).update(name="Renamed")
    services.add_feedback(request=asked, feedback={"rating": 5})
    assert bytes(Delivery.objects.get().body) == before


def test_a_rolled_back_transition_leaves_no_event(asked: Request, member: User) -> None:
    with transaction.atomic():
        services.answer_request(request=asked, reviewer_id=member.pk, answer="yes")
        assert Delivery.objects.count() == 1
        transaction.set_rollback(True)
    assert not Delivery.objects.exists()
    assert services.read_request(asked.pk).status == "pending"


def test_without_its_event_there_is_no_transition(asked: Request, member: User) -> None:
    """The database refuses a second row for the same end, and with it the transition."""
    Delivery.objects.create(
        account_id=asked.creator_id, event="request.cancelled", subject_id=asked.pk,
        occurrence=f"{asked.pk}:end", url=HOOK, host="receiver.example", body=b"{}",
    )  # fmt: skip
    with pytest.raises(IntegrityError), transaction.atomic():
        services.answer_request(request=asked, reviewer_id=member.pk, answer="no")
    assert services.read_request(asked.pk).status == "pending"
    assert Delivery.objects.count() == 1


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        ({"response_type": "text", "response_config": {}, "default_response": "-"}, "Größe ✓"),
        (
            {"response_type": "multi_select", "response_config": {"options": ["a", "b", "c"]},
             "default_response": ["a"]},
            ["c", "a"],
        ),
        (
            {"response_type": "rating", "response_config": {"scale_min": 1, "scale_max": 5},
             "default_response": 1},
            4,
        ),
        (
            {"response_type": "number", "response_config": {"min_value": 0, "max_value": 10,
             "decimal_places": 2}, "default_response": 0},
            2.5,
        ),
    ],
    ids=["text", "multi_select", "rating", "number"],
)  # fmt: skip
def test_every_type_of_answer(
    make: Make, member: User, loop: Loop, read: Callable[[Request], Any],
    fields: dict[str, Any], answer: Any,
) -> None:  # fmt: skip
    request = make(callback_url=HOOK, **fields)
    services.answer_request(request=request, reviewer_id=member.pk, answer=answer)
    (body,) = told(request)
    check(body, read(request), loop)
    expected = sorted(answer) if isinstance(answer, list) else answer
    assert body["response_data"] == body["data"]["request"]["response_data"] == expected


def test_a_url_of_any_shape_that_the_api_takes_stops_no_transition(
    loop: Loop, member: User, owner_key: str, api: type[Api]
) -> None:
    for url in (
        "http://[::1]:1/", "http://xn--/", "http://ü.example/ß?ö#é", "HTTP://EXAMPLE.com",
        "http://" + "a" * 2000 + "/", "http://user:@:pw@h/", "http://0x7f.1", "http://h/%zz",
    ):  # fmt: skip
        body = {**FIELDS, "callback_url": url}
        made = api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", body)
        assert made.status_code == 201, made.content
        request = services.read_request(made.json()["data"]["request_id"])
        services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    assert Delivery.objects.count() == 8
