"""A key's quota: what calls cost, what is credited, and the headers."""

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db.models import F
from django.test import Client
from pytest_django import Settings

from accounts.models import ApiKey, Usage, User
from accounts.services import create_api_key
from loops.models import Loop
from reviews.models import Request
from tests.api import moments
from tests.api.bodies import QUESTION
from tests.api.wire import NOWHERE, Api, Ask, body_of, granted, json_of, refused, send

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("steady_hour")]

ALL = ["loops:read", "loops:write", "requests:read", "requests:write"]
Issue = Callable[..., str]


@pytest.fixture
def issue(owner: User) -> Issue:
    """A function that makes a key of the owner with this limit."""

    def make(hourly_limit: int | None = None, permissions: Any = ALL) -> str:
        return create_api_key(
            user=owner, name="one", permissions=permissions, hourly_limit=hourly_limit
        )[1]

    return make


def remaining(api: Api, key: str) -> int:
    """What is left after a call to /test, by its data and by its headers."""
    response = api(key).get("/v1/test")
    rest = granted(response, "API key is valid")["rate_limit"]
    assert response["X-RateLimit-Limit"] == str(rest["limit"])
    assert response["X-RateLimit-Remaining"] == str(rest["remaining"])
    return int(rest["remaining"])


@pytest.mark.contract("quota.rate", "quota.window", "quota.headers", "test.rate_limit")
def test_a_fresh_key(api: Api, issue: Issue) -> None:
    response = api(issue()).get("/v1/test")
    top = (int(time.time()) // 3600 + 1) * 3600
    assert response["X-RateLimit-Limit"] == "100"
    assert response["X-RateLimit-Remaining"] == "99"
    assert response["X-RateLimit-Reset"] == str(top)
    assert response["RateLimit-Policy"] == '"hour";q=100;w=3600'
    assert re.fullmatch(r'"hour";r=99;t=\d+', response["RateLimit"])
    assert abs(top - time.time() - int(response["RateLimit"].split("t=")[1])) < 5
    assert "Link" not in response
    reset_at = granted(response, "API key is valid")["rate_limit"]["reset_at"]
    assert datetime.fromisoformat(reset_at) == datetime.fromtimestamp(top, tz=UTC)


@pytest.mark.contract("quota.cost", "quota.headers")
def test_every_outcome_costs_one(api: Api, issue: Issue, loop: Loop) -> None:
    key = issue()
    client = api(key)
    answers = [
        client.get("/v1/api/loops"),
        client.get("/v1/api/loops/x"),
        client.get(f"/v1/api/loops/{NOWHERE}"),
        client.post("/v1/api/loops", {}),
        client.post(f"/v1/api/loops/{loop.pk}/requests", {}),
        client.get("/v1/api/requests?limit=0"),
        send("POST", "/v1/api/loops", f"Bearer {key}", b"{"),
    ]
    for spent, answer in enumerate(answers, start=1):
        assert answer["X-RateLimit-Remaining"] == str(100 - spent)
    assert remaining(api, key) == 100 - len(answers) - 1


@pytest.mark.contract("quota.cost")
def test_a_lacking_permission_costs_one(api: Api, issue: Issue) -> None:
    key = issue(permissions=[])
    refused(api(key).get("/v1/api/loops"), 403, "Access denied to this resource")
    assert remaining(api, key) == 98


@pytest.mark.contract("quota.headers", "http.unknown_path", "http.method")
def test_an_unknown_path_or_a_wrong_method_costs_nothing(api: Api, issue: Issue) -> None:
    key = issue()
    assert remaining(api, key) == 99
    for answer in (
        api(key).get("/v1/nothing"),
        api(key).post("/v1/test"),
        send("OPTIONS", "/v1/api/loops", f"Bearer {key}"),
    ):
        assert answer.status_code in (404, 405)
        assert (answer["X-RateLimit-Limit"], answer["X-RateLimit-Remaining"]) == ("100", "99")
    assert remaining(api, key) == 98


@pytest.mark.contract("quota.over", "quota.over_data", "quota.refused_free", "status.429")
def test_beyond_the_limit(api: Api, issue: Issue, settings: Settings) -> None:
    key = issue(hourly_limit=2)
    assert (remaining(api, key), remaining(api, key)) == (1, 0)
    for _ in range(3):
        response = api(key).get("/v1/test")
        reset = int(response["X-RateLimit-Reset"])
        reset_at = datetime.fromtimestamp(reset, tz=UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        refused(
            response,
            429,
            "API rate limit exceeded",
            {"usage_count": 2, "usage_limit": 2, "remaining": 0, "reset_at": reset_at},
        )
        assert (response["X-RateLimit-Limit"], response["X-RateLimit-Remaining"]) == ("2", "0")
        assert 0 < int(response["Retry-After"]) <= 3600
        assert response["RateLimit"].startswith('"hour";r=0;t=')
        assert (
            response["Link"] == f'<{settings.SITE_URL}/docs/api.md#which-way-to-wait>; rel="help"'
        )
        assert abs(reset - time.time() - int(response["Retry-After"])) < 5
    usage = Usage.objects.get()
    assert usage.calls == 2


@pytest.mark.contract("quota.over", "quota.rate")
def test_the_hundred_and_first(api: Api, issue: Issue) -> None:
    key = issue()
    assert remaining(api, key) == 99
    Usage.objects.update(calls=99)
    assert remaining(api, key) == 0
    response = api(key).get("/v1/api/loops/x")
    assert (response.status_code, body_of(response)["msg"]) == (429, "API rate limit exceeded")


@pytest.mark.contract("quota.window")
def test_a_new_hour_is_a_new_window(api: Api, issue: Issue) -> None:
    key = issue(hourly_limit=1)
    assert remaining(api, key) == 0
    assert api(key).get("/v1/test").status_code == 429
    Usage.objects.update(hour=F("hour") - timedelta(hours=1))
    assert remaining(api, key) == 0
    hours = list(Usage.objects.order_by("hour").values_list("hour", "calls"))
    assert [calls for _, calls in hours] == [1, 1]
    assert all((hour.minute, hour.second, hour.microsecond) == (0, 0, 0) for hour, _ in hours)


@pytest.mark.contract("quota.limits")
def test_whose_limit_counts(api: Api, issue: Issue, owner: User, settings: Settings) -> None:
    key = issue()
    settings.API_HOURLY_LIMIT = 7
    assert remaining(api, key) == 6
    User.objects.filter(pk=owner.pk).update(hourly_limit=720)
    assert remaining(api, key) == 718
    ApiKey.objects.filter(user=owner).update(hourly_limit=5)
    assert remaining(api, key) == 2
    assert send("GET", "/v1/test")["X-RateLimit-Limit"] == "7"


@pytest.mark.contract("quota.rate")
def test_keys_have_hours_of_their_own(api: Api, issue: Issue) -> None:
    first, second = issue(hourly_limit=1), issue(hourly_limit=1)
    assert remaining(api, first) == 0
    assert remaining(api, second) == 0


@pytest.mark.contract("quota.dashboard_free")
def test_the_pages_cost_nothing(api: Api, owner: User, issue: Issue, loop: Loop) -> None:
    key = issue()
    assert remaining(api, key) == 99
    browser = Client()
    browser.force_login(owner)
    assert browser.get("/inbox/").status_code == 200
    assert browser.get(f"/join/{loop.invite_code}").status_code == 200
    assert remaining(api, key) == 98


@pytest.mark.contract("quota.credit", "quota.credit_once")
def test_a_cancel_credits_the_key_that_created(api: Api, issue: Issue, loop: Loop) -> None:
    creator, canceller = issue(), issue()
    path = _asked(api, creator, loop)
    assert remaining(api, creator) == 98
    granted(api(canceller).delete(path), "Request cancelled successfully")
    assert remaining(api, creator) == 98
    assert remaining(api, canceller) == 98
    refused(api(canceller).delete(path), 400, "Request cannot be cancelled in current state")
    assert remaining(api, creator) == 97


@pytest.mark.parametrize("many", [False, True])
def test_cancels_in_the_dashboard_do_not_lift_the_limit(
    api: Api, owner: User, issue: Issue, loop: Loop, many: bool
) -> None:
    creator, browser = issue(hourly_limit=2), Client()
    browser.force_login(owner)
    for _ in range(2):
        request_id = _asked(api, creator, loop).rsplit("/", 1)[1]
        if many:
            form = {"selected": request_id, "confirmed": "1"}
            browser.post("/dashboard/requests/cancel/", form)
        else:
            browser.post(f"/dashboard/requests/{request_id}/cancel/")
        assert Request.objects.get(pk=request_id).status == "cancelled"
    response = api(creator).post(f"/v1/api/loops/{loop.pk}/requests", QUESTION)
    assert response.status_code == 429


@pytest.mark.contract("quota.credit")
def test_a_cancel_by_the_same_key(api: Api, issue: Issue, loop: Loop) -> None:
    key = issue()
    granted(api(key).delete(_asked(api, key, loop)), "Request cancelled successfully")
    assert remaining(api, key) == 98


@pytest.mark.contract("quota.credit")
def test_no_credit_for_another_window(api: Api, issue: Issue, loop: Loop) -> None:
    key = issue()
    response = api(key).post(
        f"/v1/api/loops/{loop.pk}/requests", {**QUESTION, "timeout_seconds": 86400}
    )
    path = json_of(response)["data"]["polling_url"]
    moments.let_pass(path.rsplit("/", 1)[1], hours=1)
    granted(api(key).delete(path), "Request cancelled successfully")
    assert remaining(api, key) == 97


@pytest.mark.contract("quota.credit_once")
def test_a_credit_never_lifts_the_rest_above_the_limit(api: Api, issue: Issue, loop: Loop) -> None:
    creator, canceller = issue(), issue()
    path = _asked(api, creator, loop)
    Usage.objects.update(calls=0, credits=0)
    granted(api(canceller).delete(path), "Request cancelled successfully")
    assert remaining(api, creator) == 99


@pytest.mark.contract("quota.credit")
def test_no_credit_for_what_ended_otherwise(
    api: Api, member: User, issue: Issue, loop: Loop
) -> None:
    key = issue()
    path = _asked(api, key, loop)
    moments.answer(path.rsplit("/", 1)[1], member)
    refused(api(key).delete(path), 400, "Request cannot be cancelled in current state")
    assert remaining(api, key) == 97


@pytest.mark.contract("quota.credit")
def test_a_credit_opens_an_exhausted_hour(api: Api, issue: Issue, loop: Loop) -> None:
    creator, canceller = issue(hourly_limit=1), issue()
    path = _asked(api, creator, loop)
    assert api(creator).get("/v1/test").status_code == 429
    granted(api(canceller).delete(path), "Request cancelled successfully")
    assert remaining(api, creator) == 0
    assert api(creator).get("/v1/test").status_code == 429


def test_what_no_credit_is_for(ask: Ask, plenty: str, api: Api) -> None:
    """A cancel that is refused gives nothing back."""
    asked = ask()
    before = remaining(api, plenty)
    refused(api(plenty).delete(f"/v1/api/requests/{NOWHERE}"), 404, "Request not found")
    assert remaining(api, plenty) == before - 2
    assert asked


def _asked(api: Api, key: str, loop: Loop) -> str:
    """The polling path of a request made with `key`."""
    response = api(key).post(f"/v1/api/loops/{loop.pk}/requests", QUESTION)
    data = granted(response, "Request created and broadcasted successfully", status=201)
    return str(data["polling_url"])
