"""`policy` on requests and loops, by the API."""

from typing import Any

import pytest

from accounts.models import User
from loops.models import Loop
from loops.services import join_loop
from reviews.models import Request
from tests.api import moments
from tests.api.bodies import of_type
from tests.api.wire import Api, Caller, granted, refused
from tests.conftest import account

pytestmark = pytest.mark.django_db

BODY: dict[str, Any] = {
    "processing_type": "time-sensitive", "type": "markdown", "priority": "high",
    "request_text": "Delete the table?", "timeout_seconds": 600, "response_type": "single_select",
    "response_config": {"options": ["yes", "no"]}, "default_response": "no", "platform": "api",
}  # fmt: skip
CREATED = "Request created and broadcasted successfully"
TWO = {"rule": "unanimous", "answers": 2}


def create(api: Caller, loop: Loop, policy: Any, **changes: Any) -> Any:
    body = {**BODY, "policy": policy, **changes}
    return api.post(f"/v1/api/loops/{loop.pk}/requests", body)


def read(api: Caller, request_id: str) -> dict[str, Any]:
    data = granted(api.get(f"/v1/api/requests/{request_id}"), "Request retrieved successfully")
    shown: dict[str, Any] = data["request"]
    return shown


@pytest.mark.contract("policy")
def test_two_people_agree(api: Api, plenty: str, owner: User, member: User, loop: Loop) -> None:
    created = granted(create(api(plenty), loop, TWO), CREATED, 201)
    asked = created["request_id"]
    shown = read(api(plenty), asked)
    assert shown["policy"] == {**TWO, "blind": True, "exclude_creator": False, "veto": []}
    assert shown["answers_received"] == 0
    assert shown.keys().isdisjoint({"answers", "outcome"})
    moments.answer(asked, member)
    shown = read(api(plenty), asked)
    assert (shown["status"], shown["answers_received"], shown["response_data"]) == (
        "pending",
        1,
        None,
    )
    assert "answers" not in shown
    assert member.email not in str(shown)
    moments.answer(asked, owner)
    shown = read(api(plenty), asked)
    assert (shown["status"], shown["outcome"]) == ("completed", "decided")
    assert (shown["response_data"], shown["response_by"]) == ("yes", owner.pk)
    assert [(each["response_by"], each["response_data"]) for each in shown["answers"]] == [
        (member.pk, "yes"), (owner.pk, "yes"),
    ]  # fmt: skip
    assert shown["answers"][0]["response_by_user"]["email"] == member.email


@pytest.mark.contract("policy.blind")
def test_answers_are_open_where_the_policy_says_so(
    api: Api, plenty: str, member: User, loop: Loop
) -> None:
    policy = {**TWO, "blind": False}
    asked = granted(create(api(plenty), loop, policy), CREATED, 201)["request_id"]
    assert read(api(plenty), asked)["answers"] == []
    moments.answer(asked, member)
    (given,) = read(api(plenty), asked)["answers"]
    assert given["response_data"] == "yes"


@pytest.mark.contract("policy.replaced")
def test_a_further_answer_replaces_the_one_before(
    api: Api, plenty: str, owner: User, member: User, loop: Loop
) -> None:
    asked = granted(create(api(plenty), loop, TWO), CREATED, 201)["request_id"]
    moments.claim(asked, owner)
    for value in ("no", "yes"):
        moments.answer(asked, member, value)
        shown = read(api(plenty), asked)
        assert (shown["status"], shown["claimed_by"]) == ("pending", None)
        assert shown["answers_received"] == 1
    moments.answer(asked, owner, "yes")
    shown = read(api(plenty), asked)
    assert [each["response_data"] for each in shown["answers"]] == ["yes", "yes"]


@pytest.mark.contract("policy.outcome", "policy.early")
@pytest.mark.parametrize(
    ("values", "status", "outcome", "answered_by"),
    [
        (["yes", "yes"], "completed", "decided", "human"),
        (["no"], "completed", "vetoed", "human"),
        (["yes", "maybe"], "timeout", "no_agreement", "default"),
        (["yes"], "timeout", "default", "default"),
    ],
)
def test_how_it_ends(
    api: Api, plenty: str, owner: User, member: User, loop: Loop,
    values: list[str], status: str, outcome: str, answered_by: str,
) -> None:  # fmt: skip
    config = {"options": ["yes", "no", "maybe"]}
    policy = {**TWO, "veto": ["no"]}
    created = granted(create(api(plenty), loop, policy, response_config=config), CREATED, 201)
    asked = created["request_id"]
    for person, value in zip((owner, member), values, strict=False):
        moments.answer(asked, person, value)
    if outcome == "default":
        moments.let_pass(asked, hours=1)
    shown = read(api(plenty), asked)
    assert (shown["status"], shown["outcome"], shown["answered_by"]) == (
        status,
        outcome,
        answered_by,
    )
    assert shown["response_data"] == ("yes" if outcome == "decided" else "no")
    assert (shown["response_by"] is None) == (status == "timeout")
    assert [each["response_data"] for each in shown["answers"]] == values
    is_early = outcome == "no_agreement"
    assert (shown["timeout_at"] < created["timeout_at"]) == (is_early or outcome == "default")
    assert (shown["timeout_at"] == shown["updated_at"]) == (status == "timeout")


@pytest.mark.contract("policy.invalid")
@pytest.mark.parametrize(
    ("policy", "changes", "detail"),
    [
        ("two", {}, "policy must be an object"),
        ({"rule": "some"}, {}, "policy.rule must be one of: first, majority, unanimous, median"),
        ({"rule": "majority", "answers": 3}, {}, "policy.answers is 3, but 2 people may answer"),
        (
            {**TWO, "exclude_creator": True}, {},
            "policy.answers is 2, but 1 people may answer",
        ),
        (
            {"rule": "median", "answers": 2}, {},
            "policy.rule median is not possible for response_type single_select, which can have:"
            " first, majority, unanimous",
        ),
        (
            TWO, {"response_type": "text", "response_config": {}},
            "policy.rule unanimous is not possible for response_type text, which can have: first",
        ),
        (
            TWO, of_type("form"),
            "policy.rule unanimous is not possible for response_type form, which can have: first",
        ),
        ({**TWO, "veto": ["no"] * 51}, {}, "policy.veto must have at most 50 entries"),
        ({**TWO, "veto": ["No"]}, {}, "policy.veto[0] must be a possible answer to the request"),
        ({**TWO, "veto": ["no", 1]}, {}, "policy.veto[1] must be a possible answer to the request"),
        (
            {**TWO, "veto": ["reject", "deny"]}, of_type("approval"),
            "policy.veto[1] must be a possible answer to the request",
        ),
        (
            {**TWO, "veto": ["reject", "approve"]}, of_type("approval"),
            "policy.veto[1] must be a possible answer to the request",
        ),
        (
            {**TWO, "veto": ["edit"]}, of_type("approval", actions=["approve", "edit", "reject"]),
            "policy.veto[0] must be a possible answer to the request",
        ),
        (
            {**TWO, "veto": ["respond"]},
            of_type("approval", proposal={"name": "restart"}, actions=["approve", "reject"]),
            "policy.veto[0] must be a possible answer to the request",
        ),
        (
            {**TWO, "veto": ["yes"]},
            {"response_type": "multi_select", "default_response": ["no"]},
            "policy.veto is not possible for response_type multi_select",
        ),
    ],
)  # fmt: skip
def test_what_is_refused(
    api: Api, plenty: str, member: User, loop: Loop,
    policy: Any, changes: dict[str, Any], detail: str,
) -> None:  # fmt: skip
    response = create(api(plenty), loop, policy, **changes)
    refused(response, 400, "Validation failed", detail)
    assert not Request.objects.exists()


@pytest.mark.contract("policy.loop")
def test_a_loop_has_one_for_all(api: Api, plenty: str, member: User, loop: Loop) -> None:
    client = api(plenty)
    updated = client.put(f"/v1/api/loops/{loop.pk}", {"policy": TWO})
    stored = {**TWO, "blind": True, "exclude_creator": False, "veto": []}
    assert granted(updated, "Loop updated successfully")["loop"]["policy"] == stored
    asked = granted(create(client, loop, None), CREATED, 201)["request_id"]
    assert read(client, asked)["policy"] == stored
    refused(
        create(client, loop, TWO), 400, "Validation failed",
        "policy is not allowed: the loop has one for all its requests",
    )  # fmt: skip
    refused(
        create(client, loop, None, response_type="text", response_config={}),
        400, "Validation failed",
        "The loop's policy.rule unanimous is not possible for response_type text, which can have:"
        " first",
    )  # fmt: skip
    client.put(f"/v1/api/loops/{loop.pk}", {"policy": {**TWO, "answers": 3}})
    refused(
        create(client, loop, None), 400, "Validation failed",
        "The loop's policy.answers is 3, but 2 people may answer",
    )  # fmt: skip
    cleared = client.put(f"/v1/api/loops/{loop.pk}", {"policy": {}})
    assert "policy" not in granted(cleared, "Loop updated successfully")["loop"]
    asked = granted(create(client, loop, None), CREATED, 201)["request_id"]
    assert read(client, asked).keys().isdisjoint({"policy", "answers_received"})


@pytest.mark.parametrize("kind", ["multi_select", "text"])
def test_types_without_vetoes_may_have_a_policy(
    api: Api, plenty: str, member: User, loop: Loop, kind: str
) -> None:
    policy = TWO if kind == "multi_select" else {"exclude_creator": True}
    granted(create(api(plenty), loop, policy, **of_type(kind)), CREATED, 201)
    assert Request.objects.get().policy["veto"] == []


@pytest.mark.contract("policy.loop")
@pytest.mark.parametrize(
    ("veto", "detail"),
    [
        (["no"] * 51, "policy.veto must have at most 50 entries"),
        *(
            (["no", vote], "policy.veto[1] must be a number or a text of 1 to 200 characters")
            for vote in ("x" * 201, "", {"action": "reject"}, ["no"], True, None)
        ),
    ],
)
def test_the_vetoes_of_a_loop_are_bounded(
    api: Api, plenty: str, loop: Loop, veto: list[Any], detail: str
) -> None:
    body = {"name": "Other", "description": "", "icon": "star", "policy": {**TWO, "veto": veto}}
    for response in (
        api(plenty).put(f"/v1/api/loops/{loop.pk}", {"policy": body["policy"]}),
        api(plenty).post("/v1/api/loops", body),
    ):
        refused(response, 400, "Validation failed", detail)
    assert list(Loop.objects.values_list("policy", flat=True)) == [None]


@pytest.mark.contract("policy.loop")
def test_the_most_vetoes_of_a_loop(api: Api, plenty: str, loop: Loop) -> None:
    veto = ["x" * 200, -2.5, *map(str, range(48))]
    updated = api(plenty).put(f"/v1/api/loops/{loop.pk}", {"policy": {**TWO, "veto": veto}})
    assert granted(updated, "Loop updated successfully")["loop"]["policy"]["veto"] == veto


@pytest.mark.contract("policy.people")
def test_who_joins_later_is_not_asked(api: Api, plenty: str, member: User, loop: Loop) -> None:
    asked = granted(create(api(plenty), loop, TWO), CREATED, 201)
    assert asked["broadcasted_to"] == 2
    late = account("late")
    join_loop(user=late, code=loop.invite_code)
    client = api(plenty)
    client.delete(f"/v1/api/loops/{loop.pk}/members/{member.pk}")
    shown = read(client, asked["request_id"])
    assert (shown["status"], shown["outcome"]) == ("timeout", "unreachable")
    assert (shown["response_data"], shown["answered_by"]) == ("no", "default")
