"""/webhook.schema.json: what is delivered fits it, and what is not an event does not."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from jsonschema import Draft202012Validator, FormatChecker  # type: ignore[import-untyped]
from pytest_django import Settings

from accounts.models import User
from loops.models import Loop
from reviews import tasks
from reviews.models import Request
from reviews.response_types import list_names
from reviews.services import answer_request, cancel_request, claim_request, delete_loop
from tests.api.bodies import TYPES
from tests.reviews.conftest import Make, make, make_overdue
from tests.webhooks.conftest import deliver_here
from tests.webhooks.receivers import receiving
from webhooks.services import request_test

pytestmark = pytest.mark.django_db
__all__ = ["make"]  # a fixture
ANSWERS = {
    "text": "Größe ✓",
    "single_select": "yes",
    "multi_select": ["red", "blue"],
    "rating": 5,
    "number": 12.5,
    "form": {"amount": 5, "note": "Looks good."},
    "approval": {"action": "edit", "arguments": {"order": 4821, "amount": 9}},
}


@pytest.fixture
def schema(client: Client) -> dict[str, Any]:
    response = client.get("/webhook.schema.json")
    assert response["Content-Type"] == "application/schema+json"
    found: dict[str, Any] = response.json()
    return found


def validator(schema: dict[str, Any]) -> Any:
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema, format_checker=FormatChecker())


def closed(schema: Any) -> Any:
    """The schema without room for fields that it does not name."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    shut = {"additionalProperties": False} if "required" in schema else {}
    return {**shut, **{name: closed(value) for name, value in schema.items()}}


@pytest.mark.parametrize("response_type", list_names())
def test_every_delivery_fits(
    schema: dict[str, Any], make: Make, loop: Loop, owner: User, member: User, response_type: str
) -> None:
    with receiving() as receiver:
        given = {"response_type": response_type, **TYPES[response_type]}
        given |= {"callback_url": receiver.url, "context": {"order": [1, None]}}
        answered, overdue, cancelled, withdrawn = (make(**given) for _ in range(4))
        claim_request(request=answered, reviewer_id=member.pk)
        answered = Request.objects.get(pk=answered.pk)
        value = ANSWERS[response_type]
        answer_request(request=answered, reviewer_id=member.pk, answer=value, comment="Looks good.")
        make_overdue(overdue)
        assert tasks.settle_overdue() == 1
        cancel_request(request_id=cancelled.pk, account_id=owner.pk)
        claim_request(request=withdrawn, reviewer_id=member.pk)
        delete_loop(loop_id=loop.pk, account_id=owner.pk)
        request_test(account_id=owner.pk, url=receiver.url, now=datetime.now(UTC))
        while deliver_here():
            pass
        bodies = [json.loads(got.body) for got in receiver.got]
    strict = validator(closed(schema))
    assert sorted(body["event"] for body in bodies) == [
        *("request.cancelled", "request.cancelled", "request.claimed", "request.claimed"),
        *("request.completed", "request.timeout", "webhook.test"),
    ]
    for body in bodies:
        assert [error.message for error in validator(schema).iter_errors(body)] == []
        assert strict.is_valid(body), body


def test_what_does_not_fit(schema: dict[str, Any], client: Client) -> None:
    document = client.get("/openapi.json").json()
    told = document["webhooks"]["request.completed"]["post"]["requestBody"]
    event = told["content"]["application/json"]["example"]
    check = validator(schema).is_valid
    assert check(event)
    assert check({**event, "later": "a field that events get one day"})
    assert not check({**event, "event": "request.opened"})
    assert not check({**event, "status": "done"})
    assert not check({**event, "request_id": 7})
    assert not check({name: value for name, value in event.items() if name != "data"})
    assert not check({**event, "data": {**event["data"], "request": {}}})
    assert not check([event])


def test_it_is_complete_in_itself(schema: dict[str, Any], settings: Settings) -> None:
    assert schema["$id"] == f"{settings.SITE_URL}/webhook.schema.json"
    assert "components" not in json.dumps(schema)
    for name in schema["$defs"]:
        assert f'"#/$defs/{name}"' in json.dumps(schema), name
