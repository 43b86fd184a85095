"""The floor of the bench gives the same responses as the service."""

import json
from typing import Any

import pytest
from django.test import override_settings

from bench.api import BODY
from loops.models import Loop
from reviews.models import Request
from reviews.services import answer_request
from tests.conftest import Api


@pytest.fixture
def answered(owner_key: str, loop: Loop) -> str:
    """The path of a completed request; another one is pending."""
    path = f"/v1/api/loops/{loop.pk}/requests"
    ids = [Api(owner_key).post(path, BODY).json()["data"]["request_id"] for _ in range(2)]
    done = Request.objects.get(pk=ids[0])
    answer_request(request=done, reviewer_id=loop.creator_id, answer="yes")
    return f"/v1/api/requests/{ids[0]}"


def of_floor(key: str, path: str, body: Any = None) -> Any:
    with override_settings(ROOT_URLCONF="bench.floor", MIDDLEWARE=[]):
        api = Api(key)
        response = api.get(path) if body is None else api.post(path, body)
        return json.loads(response.content)


def test_polls_are_the_same(owner_key: str, answered: str) -> None:
    assert of_floor(owner_key, answered) == Api(owner_key).get(answered).json()


def test_lists_are_the_same_but_for_the_total(owner_key: str, answered: str) -> None:
    ours = Api(owner_key).get("/v1/api/requests").json()["data"]
    assert of_floor(owner_key, "/v1/api/requests")["data"] == {
        "requests": ours["requests"],
        "count": 2,
    }


def test_creates_are_the_same(owner_key: str, loop: Loop) -> None:
    path = f"/v1/api/loops/{loop.pk}/requests"
    theirs = of_floor(owner_key, path, BODY)["data"]
    ours = Api(owner_key).post(path, BODY).json()["data"]
    changing = ("request_id", "timeout_at", "polling_url")
    assert {name: value for name, value in theirs.items() if name not in changing} == {
        name: value for name, value in ours.items() if name not in changing
    }
    first, second = (row.items() for row in Request.objects.values().order_by("created_at"))
    differing = {name for name, _ in first ^ second}
    assert differing == {"id", "timeout_at", "created_at", "updated_at"}
