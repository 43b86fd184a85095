"""Which answers reviewers can give, and what the client reads."""

from typing import Any

import pytest

from accounts.models import User
from reviews.models import Request
from reviews.response_types import InvalidAnswer
from reviews.services import TransitionLost, answer_request
from tests.api import moments
from tests.api.bodies import of_type
from tests.api.wire import Api, Ask, granted

pytestmark = pytest.mark.django_db


APPROVED = {"action": "approve", "edited": [], "arguments": {"order": 4821, "amount": 12.5}}


@pytest.mark.contract(
    "answer.text",
    "answer.single_select",
    "answer.multi_select",
    "answer.rating",
    "answer.number",
    "answer.form",
    "answer.approval",
    "answer.edit",
    "answer.negative",
    "answer.empty",
    "request.response_data",
)
@pytest.mark.parametrize(
    ("response_type", "config", "answer", "read"),
    [
        ("text", {}, " as typed ", " as typed "),
        ("text", {"min_length": 2, "max_length": 3}, "😀😀😀", "😀😀😀"),
        ("text", {}, "x" * 10_000, "x" * 10_000),
        ("text", {"required": False, "min_length": 3}, "", ""),
        ("single_select", {}, "yes", "yes"),
        ("multi_select", {}, ["blue", "red"], ["red", "blue"]),
        ("multi_select", {"min_selections": 1, "max_selections": 1}, ["green"], ["green"]),
        ("multi_select", {"required": False}, [], []),
        ("rating", {}, 5, 5),
        ("rating", {"scale_min": 0, "scale_step": 0.1, "scale_max": 1}, 0.3, 0.3),
        ("number", {}, 12.25, 12.25),
        ("number", {"allow_negative": True}, -1000, -1000),
        ("number", {"min_value": 0, "decimal_places": 0}, 0, 0),
        ("form", {}, {"note": " as typed ", "amount": 5}, {"amount": 5, "note": " as typed "}),
        ("form", {}, {"amount": -0.5}, {"amount": -0.5}),
        ("approval", {}, {"action": "approve"}, APPROVED),
        (
            "approval",
            {},
            {"action": "edit", "arguments": {"amount": 12.5, "order": 4821}},
            APPROVED,
        ),
        (
            "approval",
            {},
            {"action": "edit", "arguments": {"amount": 9, "order": 4821}},
            {"action": "edit", "edited": ["amount"], "arguments": {"order": 4821, "amount": 9}},
        ),
        ("approval", {}, {"action": "reject"}, {"action": "reject"}),
        (
            "approval",
            {},
            {"action": "respond", "message": "Which?"},
            {"action": "respond", "message": "Which?"},
        ),
    ],
)
def test_what_is_taken(
    api: Api,
    plenty: str,
    member: User,
    ask: Ask,
    response_type: str,
    config: dict[str, Any],
    answer: Any,
    read: Any,
) -> None:
    asked = ask(**of_type(response_type, **config))
    moments.answer(asked, member, answer)
    response = api(plenty).get(f"/v1/api/requests/{asked}")
    value = granted(response, "Request retrieved successfully")["request"]["response_data"]
    assert (value, type(value)) == (read, type(read))


@pytest.mark.contract(
    "answer.text",
    "answer.single_select",
    "answer.multi_select",
    "answer.rating",
    "answer.number",
    "answer.form",
    "answer.approval",
    "answer.edit",
    "answer.negative",
    "answer.empty",
)
@pytest.mark.parametrize(
    ("response_type", "config", "answers"),
    [
        ("text", {"min_length": 2, "max_length": 3}, ["x", "xxxx", 5, None, ["xx"]]),
        ("text", {}, ["x" * 10_001, None]),
        ("text", {"required": True}, [""]),
        ("single_select", {"required": False}, ["", None, "maybe", ["yes"], True]),
        ("multi_select", {"min_selections": 2, "max_selections": 2}, [["red"], "red", None]),
        ("multi_select", {"max_selections": 1}, [["red", "blue"], ["red", "red"]]),
        ("multi_select", {"required": True}, [[], None, ["purple"], [5]]),
        ("rating", {}, [0, 6, 1.5, "5", True, None]),
        ("rating", {"scale_step": 0.5, "scale_max": 5}, [1.25, 5.5]),
        ("number", {}, [0, 1001, 1.234, "5", False, None, -5]),
        ("number", {"decimal_places": 0}, [1.5]),
        ("number", {"allow_negative": True}, [-1000.01]),
        ("form", {}, [None, "x", [], {}, {"amount": "5"}, {"amount": 11}, {"amount": 1, "x": 1}]),
        ("approval", {}, [None, "approve", [], {}, {"action": "deny"}, {"action": "respond"}]),
        ("approval", {"actions": ["approve"]}, [{"action": "reject"}]),
        (
            "approval",
            {"editable": ["amount"]},
            [
                {"action": "edit", "arguments": arguments}
                for arguments in (
                    {"amount": 9},
                    {"amount": 9, "order": 4821, "to": "me"},
                    {"amount": "9", "order": 4821},
                    {"amount": 2**53, "order": 4821},
                    {"amount": 9, "order": 7},
                )
            ],
        ),
        ("form", {}, [{"amount": 2**53}, {"amount": True}, {"amount": 1, "note": "\ud800"}]),
    ],
)
def test_what_is_not_taken(
    member: User, ask: Ask, response_type: str, config: dict[str, Any], answers: list[Any]
) -> None:
    asked = ask(**of_type(response_type, **config))
    for answer in answers:
        with pytest.raises(InvalidAnswer):
            moments.answer(asked, member, answer)
    assert Request.objects.get(pk=asked).status == "pending"


@pytest.mark.contract("answer.twice", "answer.late")
def test_answering_again(owner: User, member: User, ask: Ask) -> None:
    asked = ask()
    moments.answer(asked, member, "yes")
    first = Request.objects.get(pk=asked)
    moments.answer(asked, member, "yes")
    for reviewer, value in ((member, "no"), (owner, "yes"), (owner, "no")):
        with pytest.raises(TransitionLost) as lost:
            answer_request(request=first, reviewer_id=reviewer.pk, answer=value)
        assert lost.value.request.response_by == member
        assert lost.value.request.response_data == "yes"
    again = Request.objects.get(pk=asked)
    assert (again.response_at, again.updated_at) == (first.response_at, first.updated_at)


@pytest.mark.contract("answer.late")
def test_answering_what_was_cancelled(api: Api, plenty: str, member: User, ask: Ask) -> None:
    asked = ask()
    api(plenty).delete(f"/v1/api/requests/{asked}")
    with pytest.raises(TransitionLost) as lost:
        moments.answer(asked, member)
    assert lost.value.request.status == "cancelled"


@pytest.mark.contract("answer.portal")
def test_no_operation_answers(api: Api, plenty: str, member_key: str, ask: Ask) -> None:
    asked = ask()
    for key in (plenty, member_key):
        for path in ("answer", "respond", "response", "claim"):
            response = api(key).post(f"/v1/api/requests/{asked}/{path}", {"answer": "yes"})
            assert response.status_code == 404
        assert api(key).put(f"/v1/api/requests/{asked}", {"status": "completed"}).status_code == 405
    assert Request.objects.get(pk=asked).status == "pending"
