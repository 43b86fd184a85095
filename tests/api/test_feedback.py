"""POST /api/requests/{id}/feedback."""

from typing import Any

import pytest

from accounts.models import User
from tests.api import moments
from tests.api.wire import NOWHERE, Api, Ask, granted, refused

pytestmark = pytest.mark.django_db

ADDED = "Feedback added successfully"


@pytest.fixture
def done(ask: Ask, member: User) -> str:
    """A completed request."""
    asked = ask()
    moments.answer(asked, member)
    return asked


@pytest.mark.contract(
    "feedback.data",
    "feedback.msg",
    "feedback.optional",
    "feedback.extra",
    "feedback.rating",
    "feedback.comment",
    "feedback.accuracy",
    "feedback.timeliness",
    "feedback.helpfulness",
    "feedback.would_recommend",
    "feedback.tags",
    "feedback.follow_up_needed",
    "feedback.category",
)
@pytest.mark.parametrize(
    "feedback",
    [
        {},
        {"rating": 1},
        {"rating": 4.5, "comment": " Thanks. "},
        {"comment": "😀" * 1000, "tags": []},
        {"accuracy": 1, "timeliness": 5, "helpfulness": 2.25},
        {"would_recommend": False, "follow_up_needed": True},
        {"tags": ["fast", ""], "category": "positive"},
        {"category": "constructive", "comment": ""},
        {"category": "issue", "mood": {"any": ["thing", None]}},
    ],
)
def test_it_keeps_what_was_submitted(
    api: Api, plenty: str, done: str, feedback: dict[str, Any]
) -> None:
    response = api(plenty).post(f"/v1/api/requests/{done}/feedback", {"feedback": feedback})
    assert granted(response, ADDED) == {"request_id": done, "feedback": feedback}
    assert _stored(api, plenty, done) == feedback


@pytest.mark.contract("feedback.replaced", "request.updated_at")
def test_posting_again_replaces_it(api: Api, plenty: str, done: str) -> None:
    path = f"/v1/api/requests/{done}/feedback"
    api(plenty).post(path, {"feedback": {"rating": 1, "comment": "Hm."}})
    response = api(plenty).post(path, {"feedback": {"rating": 5}, "other": "ignored"})
    assert granted(response, ADDED) == {"request_id": done, "feedback": {"rating": 5}}
    assert _stored(api, plenty, done) == {"rating": 5}


RATINGS = ("rating", "accuracy", "timeliness", "helpfulness")


@pytest.mark.contract(
    "feedback.validation",
    "feedback.rating",
    "feedback.comment",
    "feedback.accuracy",
    "feedback.timeliness",
    "feedback.helpfulness",
    "feedback.would_recommend",
    "feedback.tags",
    "feedback.follow_up_needed",
    "feedback.category",
)
@pytest.mark.parametrize(
    ("field", "value", "detail"),
    [
        *((name, 0, f"{name} must be a number between 1 and 5") for name in RATINGS),
        *((name, 5.01, f"{name} must be a number between 1 and 5") for name in RATINGS),
        *((name, "5", f"{name} must be a number between 1 and 5") for name in RATINGS),
        *((name, True, f"{name} must be a number between 1 and 5") for name in RATINGS),
        ("comment", "x" * 1001, "comment must be at most 1000 characters"),
        ("comment", 5, "comment must be a string"),
        ("would_recommend", "yes", "would_recommend must be a boolean"),
        ("would_recommend", 1, "would_recommend must be a boolean"),
        ("follow_up_needed", 0, "follow_up_needed must be a boolean"),
        ("tags", "fast", "tags must be an array of strings"),
        ("tags", ["fast", 5], "tags must be an array of strings"),
        ("category", "praise", "category must be one of: positive, constructive, issue"),
        ("category", "", "category must be one of: positive, constructive, issue"),
        ("category", 5, "category must be one of: positive, constructive, issue"),
    ],
)
def test_what_it_does_not_take(
    api: Api, plenty: str, done: str, field: str, value: Any, detail: str
) -> None:
    response = api(plenty).post(f"/v1/api/requests/{done}/feedback", {"feedback": {field: value}})
    refused(response, 400, "Validation failed", detail)
    assert _stored(api, plenty, done) is None


@pytest.mark.contract("feedback.required", "body.missing_field")
@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({}, "feedback is required"),
        ({"feedback": None}, "feedback is required"),
        ({"rating": 5}, "feedback is required"),
        ({"feedback": "good"}, "feedback must be an object"),
        ({"feedback": []}, "feedback must be an object"),
        ({"feedback": 5}, "feedback must be an object"),
    ],
)
def test_the_object_is_required(
    api: Api, plenty: str, done: str, body: dict[str, Any], detail: str
) -> None:
    response = api(plenty).post(f"/v1/api/requests/{done}/feedback", body)
    refused(response, 400, "Validation failed", detail)


@pytest.mark.contract("http.first_fault")
def test_the_first_fault_wins(api: Api, plenty: str, done: str) -> None:
    faults = {"category": "x", "comment": 5, "accuracy": 0}
    response = api(plenty).post(f"/v1/api/requests/{done}/feedback", {"feedback": faults})
    refused(response, 400, "Validation failed", "comment must be a string")


@pytest.mark.contract("feedback.state", "http.precedence")
@pytest.mark.parametrize("status", ["pending", "claimed", "timeout", "cancelled"])
def test_only_completed_requests(
    api: Api, plenty: str, member: User, ask: Ask, status: str
) -> None:
    asked = ask()
    if status == "claimed":
        moments.claim(asked, member)
    elif status == "timeout":
        moments.let_pass(asked, hours=2)
    elif status == "cancelled":
        api(plenty).delete(f"/v1/api/requests/{asked}")
    for body in ({"feedback": {"rating": 5}}, {"feedback": 5}, {}):
        response = api(plenty).post(f"/v1/api/requests/{asked}/feedback", body)
        refused(response, 400, "Feedback can only be added to completed requests")


@pytest.mark.contract("feedback.denied", "auth.request_rules")
def test_only_the_account(
    api: Api, plenty: str, member_key: str, outsider_key: str, done: str
) -> None:
    for key in (member_key, outsider_key):
        response = api(key).post(f"/v1/api/requests/{done}/feedback", {"feedback": {"rating": 1}})
        refused(response, 403, "Access denied to this request")
    assert _stored(api, plenty, done) is None


@pytest.mark.contract("feedback.missing", "feedback.malformed")
def test_ids(api: Api, owner_key: str) -> None:
    body = {"feedback": {"rating": 1}}
    response = api(owner_key).post(f"/v1/api/requests/{NOWHERE}/feedback", body)
    refused(response, 404, "Request not found")
    response = api(owner_key).post("/v1/api/requests/x/feedback", body)
    refused(response, 400, "Invalid request ID format")


def _stored(api: Api, key: str, request_id: str) -> Any:
    response = api(key).get(f"/v1/api/requests/{request_id}")
    return granted(response, "Request retrieved successfully")["request"]["feedback"]
