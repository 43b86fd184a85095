"""Approvals as programs ask for them: what is echoed, and what is refused by its path."""

import json
from typing import Any

import pytest

from accounts.models import User
from loops.models import Loop
from reviews.models import Request
from tests.api import moments
from tests.api.bodies import of_type
from tests.api.wire import Api, Ask, granted, refused, refused_at

pytestmark = pytest.mark.django_db

CREATED = "Request created and broadcasted successfully"
CONFIG: dict[str, Any] = of_type("approval")["response_config"]
PROPOSAL: dict[str, Any] = CONFIG["proposal"]
SCHEMA = {
    "type": "object",
    "properties": {"amount": {"type": "number", "maximum": 80}, "note": {"type": "string"}},
    "required": ["amount"],
}


def proposing(**changes: Any) -> dict[str, Any]:
    return {**CONFIG, "proposal": {**PROPOSAL, **changes}}


def create(api: Api, key: str, loop: Loop, **changes: Any) -> Any:
    body = {**of_type("approval"), **changes}
    return api(key).post(f"/v1/api/loops/{loop.pk}/requests", body)


@pytest.mark.contract("config.approval", "default.approval")
@pytest.mark.parametrize(
    ("config", "default"),
    [
        ({"proposal": {"name": "restart"}}, {"action": "reject"}),
        ({**CONFIG, "editable": ["amount"]}, {"action": "reject", "message": "Nobody looked."}),
        ({**CONFIG, "editable": True, "tags": [1]}, {"action": "respond", "message": "Later."}),
        (
            proposing(
                title="Refund 4821",
                risk="high",
                schema=SCHEMA,
                arguments={"note": None, "amount": 80, "raw": {"b": [1.0, None], "a": ""}},
                version=3,
            ),
            {"action": "reject", "code": 7},
        ),
    ],
)
def test_a_proposal_is_echoed_as_sent(
    api: Api, owner_key: str, loop: Loop, config: Any, default: Any
) -> None:
    response = create(api, owner_key, loop, response_config=config, default_response=default)
    path = granted(response, CREATED, status=201)["polling_url"]
    shown = granted(api(owner_key).get(path), "Request retrieved successfully")["request"]
    assert json.dumps(shown["response_config"]) == json.dumps(config)
    assert shown["default_response"] == default


@pytest.mark.contract("config.approval_faults", "create.bad_config")
@pytest.mark.parametrize(
    ("config", "detail"),
    [
        ({}, "proposal is required"),
        (proposing(name=""), "proposal.name is required"),
        (proposing(risk="extreme"), "proposal.risk must be one of: low, medium, high"),
        (
            proposing(arguments={"a": {"__proto__": 1}}),
            "proposal.arguments.a must not have a field named __proto__",
        ),
        (
            proposing(arguments={"ids": [1, 9007199254740993]}),
            "proposal.arguments.ids[1] must be between -9007199254740991 and 9007199254740991. "
            "Send a number beyond them as a string",
        ),
        (
            proposing(arguments={"id": 9007199254740993.0}),
            "proposal.arguments.id must be between -9007199254740991 and 9007199254740991. "
            "Send a number beyond them as a string",
        ),
        (
            proposing(schema={**SCHEMA, "properties": {"amount": {"$ref": "#"}}}),
            "proposal.schema.properties.amount.type must be one of: string, number, integer, "
            "boolean, array",
        ),
        (
            proposing(schema=SCHEMA, arguments={"amount": 80.5}),
            "proposal.arguments.amount must be at most 80",
        ),
        (
            proposing(schema=SCHEMA, arguments={"amount": "80"}),
            "proposal.arguments.amount must be a number",
        ),
        (
            proposing(schema=SCHEMA, arguments={"amount": None}),
            "proposal.arguments.amount is required",
        ),
        (
            proposing(schema=SCHEMA, arguments={"note": "x"}),
            "proposal.arguments.amount is required",
        ),
        (
            proposing(
                schema={**SCHEMA, "additionalProperties": False}, arguments={"amount": 1, "to": ""}
            ),
            "proposal.arguments.to is no field of proposal.schema",
        ),
        ({**CONFIG, "actions": []}, "actions must not be empty"),
        (
            {**CONFIG, "actions": ["accept"]},
            "actions[0] must be one of: approve, edit, reject, respond",
        ),
        ({**CONFIG, "editable": ["to"]}, "editable[0] must be the name of an argument"),
        ({"proposal": PROPOSAL, "editable": ["amount"]}, "editable needs the action edit"),
        ({**CONFIG, "required": "yes"}, "required must be a boolean"),
    ],
)
def test_a_proposal_is_refused_by_path(
    api: Api, owner_key: str, loop: Loop, config: Any, detail: str
) -> None:
    response = create(api, owner_key, loop, response_config=config)
    refused(response, 400, "Invalid response configuration", detail)
    assert not Request.objects.exists()


@pytest.mark.contract("default.approval", "create.bad_default")
@pytest.mark.parametrize("action", ["approve", "edit"])
def test_nobody_has_looked(api: Api, owner_key: str, loop: Loop, action: str) -> None:
    response = create(api, owner_key, loop, default_response={"action": action})
    detail = (
        f"default_response.action must not be {action}, because nobody has looked at the proposal. "
        "Use reject or respond"
    )
    refused(response, 400, "Invalid default response", detail)
    assert not Request.objects.exists()


@pytest.mark.contract("config.approval_faults")
@pytest.mark.parametrize("raw", ['"\\u0000"', '"\\udc00"'])
def test_what_cannot_be_stored(api: Api, owner_key: str, loop: Loop, raw: str) -> None:
    body = json.dumps(of_type("approval")).replace("4821", raw, 1)
    response = api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", body.encode())
    detail = "response_config.proposal.arguments.order must not contain"
    refused_at(response, "Invalid request body", detail)
    assert not Request.objects.exists()


@pytest.mark.contract("config.approval_twice")
@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ('"order": 4821', '"order": 1, "order": 4821', "arguments.order"),
        ("4821", '[{"a": {"b": 1, "b": 2}}]', "arguments.order[0].a.b"),
        ('"name": "refund"', '"name": "refund", "name": "ship"', "name"),
        ('"proposal": {', '"proposal": {}, "proposal": {', ""),
    ],
)
def test_a_name_that_occurs_twice(
    api: Api, owner_key: str, loop: Loop, old: str, new: str, path: str
) -> None:
    """Programs differ in which of the two they read (RFC 8785), and one of them is on the page."""
    body = json.dumps(of_type("approval")).replace(old, new, 1)
    response = api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", body.encode())
    place = f"response_config.proposal.{path}".removesuffix(".")
    refused(response, 400, "Invalid request body", f"{place} must not occur twice")
    assert not Request.objects.exists()


@pytest.mark.contract("config.approval")
def test_a_name_that_occurs_twice_elsewhere(api: Api, owner_key: str, loop: Loop) -> None:
    """Only the proposal is refused: of all other names in a body the last one counts."""
    body = json.dumps(of_type("approval", note={"n": 1}))
    body = body.replace('"n": 1', '"n": 0, "n": 1').replace(
        '"platform":', '"platform": "", "platform":'
    )
    created = api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", body.encode())
    granted(created, CREATED, status=201)
    assert Request.objects.get().response_config["note"] == {"n": 1}


@pytest.mark.contract("config.approval")
def test_arguments_as_long_as_a_body_may_be(api: Api, owner_key: str, loop: Loop) -> None:
    def send(length: int) -> Any:
        config = proposing(arguments={"text": "x" * length})
        return create(api, owner_key, loop, response_config=config)

    granted(send(255 * 1024), CREATED, status=201)
    refused(send(256 * 1024), 400, "Invalid request body", "body must have at most 262144 bytes")
    assert Request.objects.count() == 1


@pytest.mark.contract("answer.approval", "timeout.data")
def test_the_default_has_no_arguments(api: Api, plenty: str, ask: Ask) -> None:
    asked = ask(**of_type("approval"))
    moments.let_pass(asked, days=1)
    response = api(plenty).get(f"/v1/api/requests/{asked}")
    shown = granted(response, "Request retrieved successfully")["request"]
    assert (shown["response_data"], shown["answered_by"]) == ({"action": "reject"}, "default")


@pytest.mark.contract("answer.twice")
def test_the_same_decision_again(ask: Ask, member: User) -> None:
    asked = ask(**of_type("approval"))
    edited = {"action": "edit", "arguments": {"order": 4821, "amount": 9}}
    moments.answer(asked, member, edited)
    moments.answer(asked, member, {**edited, "arguments": {"amount": 9.0, "order": 4821}})
