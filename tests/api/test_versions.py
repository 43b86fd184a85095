"""`replaces`: a request that is the next version of another one."""

import json
from typing import Any

import pytest

from accounts.models import Usage, User
from loops.models import Loop, Membership
from loops.services import create_loop
from reviews.models import Request
from tests.api import moments
from tests.api.bodies import question
from tests.api.wire import NOWHERE, Api, Ask, granted, refused
from tests.conftest import key_of
from webhooks.models import Delivery, LoggedEvent

pytestmark = pytest.mark.django_db

INVALID = "Validation failed"
CREATED = "Request created and broadcasted successfully"
NOT_MINE = "replaces must be a request that your account created"
OTHER_LOOP = "replaces must be a request of the same loop"


def read(api: Api, key: str, request_id: str) -> dict[str, Any]:
    response = api(key).get(f"/v1/api/requests/{request_id}")
    shown: dict[str, Any] = granted(response, "Request retrieved successfully")["request"]
    return shown


def read_events() -> list[dict[str, Any]]:
    """The bodies of the events so far."""
    events = LoggedEvent.objects.all()
    bodies = [each.body or Delivery.objects.get(pk=each.pk).body for each in events]
    return [json.loads(bytes(body or b"")) for body in bodies]


@pytest.mark.contract("create.replaces", "request.versions", "state.replaced")
def test_an_open_one_is_cancelled(
    api: Api, plenty: str, member_key: str, ask: Ask, member: User
) -> None:
    for is_claimed in (False, True):
        older = ask(callback_url="http://127.0.0.1:9/")
        if is_claimed:
            moments.claim(older, member)
        newer = ask(replaces=older.upper())
        before, after = read(api, plenty, older), read(api, plenty, newer)
        assert (before["status"], before["superseded_by"]) == ("cancelled", newer)
        assert (before["claimed_by"], before["claimed_at"]) == (None, None)
        assert (after["status"], after["replaces"]) == ("pending", older)
        assert ("replaces" in before, "superseded_by" in after) == (False, False)
        [event] = [each for each in read_events() if each["event"] != "request.claimed"]
        assert (event["event"], event["request_id"]) == ("request.cancelled", older)
        assert event["data"]["request"] == before
        assert read(api, member_key, older) == before
        LoggedEvent.objects.all().delete()


@pytest.mark.contract("create.replaces")
def test_an_ended_one_is_only_linked(api: Api, plenty: str, ask: Ask, member: User) -> None:
    answered, missed, cancelled = (ask(callback_url="http://127.0.0.1:9/") for _ in range(3))
    moments.answer(answered, member)
    moments.let_pass(missed, seconds=4000)  # settled by whatever reads it, here by the create
    assert api(plenty).delete(f"/v1/api/requests/{cancelled}").status_code == 200
    for older, status in ((answered, "completed"), (missed, "timeout"), (cancelled, "cancelled")):
        newer = ask(replaces=older)
        shown = read(api, plenty, older)
        assert shown.pop("superseded_by") == newer
        assert shown["status"] == status
        assert read(api, plenty, newer)["replaces"] == older
        [event] = [each for each in read_events() if each["request_id"] == older]
        assert event["data"]["request"] == shown


@pytest.mark.contract("request.versions")
@pytest.mark.parametrize("without", [{}, {"replaces": None}])
def test_a_request_without_it_is_as_before(
    api: Api, plenty: str, ask: Ask, without: dict[str, Any]
) -> None:
    shown = read(api, plenty, ask(**without))
    assert not {"replaces", "superseded_by"} & shown.keys()


@pytest.mark.contract("create.replaces")
@pytest.mark.parametrize(
    "value", ["", "x", "0" * 23, "0" * 25, "g" * 24, "0" * 24 + "\n", 5, True, {}, [NOWHERE]]
)
def test_what_is_no_id(api: Api, plenty: str, loop: Loop, value: Any) -> None:
    response = api(plenty).post(f"/v1/api/loops/{loop.pk}/requests", question(replaces=value))
    refused(response, 400, INVALID, "replaces must be a request ID")


@pytest.mark.contract("create.replaces")
def test_whose_it_may_be(
    api: Api, plenty: str, outsider: User, outsider_key: str, owner: User, loop: Loop, ask: Ask
) -> None:
    """The same sentence for a request of another account and for none."""
    mine, path = ask(), f"/v1/api/loops/{loop.pk}/requests"
    theirs = create_loop(owner_id=outsider.pk, name="Theirs", icon="star")
    other = create_loop(owner_id=owner.pk, name="Other", icon="star")
    elsewhere = f"/v1/api/loops/{other.pk}/requests"
    for replaced in (NOWHERE, loop.pk):
        refused(api(plenty).post(path, question(replaces=replaced)), 400, INVALID, NOT_MINE)
    response = api(outsider_key).post(
        f"/v1/api/loops/{theirs.pk}/requests", question(replaces=mine)
    )
    refused(response, 400, INVALID, NOT_MINE)
    refused(api(plenty).post(elsewhere, question(replaces=mine)), 400, INVALID, OTHER_LOOP)
    # who may not ask here learns nothing about the request either
    for replaced in (mine, NOWHERE):
        body = question(replaces=replaced)
        refused(api(outsider_key).post(path, body), 403, "Only loop creators can create requests")
        refused(api(plenty).post(f"/v1/api/loops/{NOWHERE}/requests", body), 404, "Loop not found")
    assert Request.objects.count() == 1
    assert read(api, plenty, mine)["status"] == "pending"


@pytest.mark.contract("create.replaces")
def test_it_is_replaced_once(api: Api, plenty: str, loop: Loop, ask: Ask) -> None:
    first = ask()
    second = ask(replaces=first)
    path = f"/v1/api/loops/{loop.pk}/requests"
    sentence = f"the request in replaces was already replaced by {second}"
    refused(api(plenty).post(path, question(replaces=first)), 400, INVALID, sentence)
    third = ask(replaces=second)
    assert [read(api, plenty, each)["status"] for each in (first, second, third)] == [
        "cancelled", "cancelled", "pending",
    ]  # fmt: skip
    assert Request.objects.count() == 3


@pytest.mark.contract("create.replaces")
def test_a_refused_create_cancels_nothing(api: Api, plenty: str, loop: Loop, ask: Ask) -> None:
    older = ask()
    path = f"/v1/api/loops/{loop.pk}/requests"
    body = question(replaces=older, timeout_seconds=1)
    assert api(plenty).post(path, body).status_code == 400
    policy = {"rule": "majority", "answers": 9}
    refused(
        api(plenty).post(path, question(replaces=older, policy=policy)),
        400,
        INVALID,
        "policy.answers is 9, but 2 people may answer",
    )
    Membership.objects.all().delete()
    refused(
        api(plenty).post(path, question(replaces=older)),
        400,
        "No active members found in the loop",
    )
    assert read(api, plenty, older)["status"] == "pending"
    assert not LoggedEvent.objects.exists()


def test_a_repeated_call_cancels_once(api: Api, plenty: str, loop: Loop, ask: Ask) -> None:
    older, path = ask(), f"/v1/api/loops/{loop.pk}/requests"
    key = {"Idempotency-Key": "version-2"}
    first, second = (api(plenty).post(path, question(replaces=older), **key) for _ in range(2))
    assert first.content == second.content
    assert second["Idempotent-Replayed"] == "true"
    assert LoggedEvent.objects.count() == 1
    assert Request.objects.count() == 2


@pytest.mark.contract("quota.credit")
def test_it_costs_one_call_and_credits_none(
    api: Api, owner: User, loop: Loop, steady_hour: None
) -> None:
    """Only a cancel by call credits a call, because it costs one."""
    key, path = key_of(owner), f"/v1/api/loops/{loop.pk}/requests"
    older = granted(api(key).post(path, question()), CREATED, 201)["request_id"]
    response = api(key).post(path, question(replaces=older))
    assert response["X-RateLimit-Remaining"] == "98"
    assert Usage.objects.get().calls == 2


def test_a_trace_continues(api: Api, plenty: str, loop: Loop, ask: Ask) -> None:
    older = ask()
    trace = f"00-{'a' * 32}-{'b' * 16}-01"
    path = f"/v1/api/loops/{loop.pk}/requests"
    granted(api(plenty).post(path, question(replaces=older), traceparent=trace), CREATED, 201)
    assert Request.objects.get(pk=older).traceparent == trace


def test_lists_do_not_have_it(api: Api, plenty: str, ask: Ask) -> None:
    ask(replaces=ask())
    listed = granted(api(plenty).get("/v1/api/requests"), "Requests retrieved successfully")
    assert not [each for each in listed["requests"] if {"replaces", "superseded_by"} & each.keys()]
