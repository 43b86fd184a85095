"""GET /api/requests/{id}/receipt and POST /api/requests/{id}/redeem."""

import hashlib
import json
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest
import rfc8785
from django.db import connection
from django.db.models import F
from django.test import Client
from joserfc import jwt
from joserfc.errors import SecurityWarning
from joserfc.jwk import KeySet
from pytest_django import Settings

from accounts.models import ApiKey, User
from loops.models import Loop
from reviews.models import Receipt, Request, SigningKey
from reviews.receipts import signing_keys
from tests.api import moments
from tests.api.bodies import QUESTION
from tests.api.test_query_counts import statements
from tests.api.wire import NOWHERE, Api, Ask, granted, json_of, refused
from tests.reviews.approvals import (
    ARGUMENTS,
    add_answer,
    decide,
    let_expire,
    turn_into_approval,
)

pytestmark = pytest.mark.django_db

READ, REDEEMED = "Receipt retrieved successfully", "Approval redeemed successfully"
NONE = "Only approved requests have a receipt"
Approved = Callable[..., str]


@pytest.fixture
def approved(ask: Ask, member: User) -> Approved:
    """Asks for an approval with this configuration, and lets the member decide."""

    def build(
        action: str = "approve", *, given: dict[str, Any] | None = None, **config: Any
    ) -> str:
        request_id = ask()
        turn_into_approval(request_id, **config)
        decide(request_id, member, action, **(given or {}))
        return request_id

    return build


def read_keys() -> KeySet:
    """The published keys, for a library that is not the service's."""
    response = Client().get("/.well-known/jwks.json")
    assert response["Content-Type"] == "application/jwk-set+json"
    return KeySet.import_key_set(response.json())


def verify(token: str) -> jwt.Token:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)  # RFC 9864 renames EdDSA
        return jwt.decode(token, read_keys(), algorithms=["EdDSA"])


@pytest.mark.contract("receipt.data", "receipt.msg", "receipt.claims")
def test_a_receipt_says_who_approved_what(
    api: Api, plenty: str, member: User, loop: Loop, approved: Approved, settings: Settings
) -> None:
    request_id = approved()
    data = granted(api(plenty).get(f"/v1/api/requests/{request_id}/receipt"), READ)
    request = json_of(api(plenty).get(f"/v1/api/requests/{request_id}"))["data"]["request"]
    token = verify(data["receipt"])
    answered_at = int(datetime.fromisoformat(request["response_at"]).timestamp())
    assert token.header == {
        "alg": "EdDSA",
        "kid": SigningKey.objects.get().pk,
        "typ": "approval-receipt+jwt",
    }
    issued_at = token.claims.pop("iat")
    assert answered_at <= issued_at <= answered_at + 600
    assert token.claims == {
        "iss": settings.SITE_URL,
        "sub": request_id,
        "jti": request_id,
        "exp": answered_at + 86_400,
        "loop_id": loop.pk,
        "name": "refund",
        "action": "approve",
        "arguments_sha256": hashlib.sha256(rfc8785.dumps(ARGUMENTS)).hexdigest(),
        "question_sha256": hashlib.sha256(request["request_text"].encode()).hexdigest(),
        "answered_by": [{"id": member.pk, "name": member.name}],
        "answered_at": request["response_at"],
        "policy": {
            "rule": "first",
            "answers": 1,
            "blind": True,
            "exclude_creator": False,
            "veto": [],
        },
    }
    assert data == {
        "request_id": request_id,
        "receipt": data["receipt"],
        "expires_at": datetime.fromisoformat(request["response_at"])
        .replace(microsecond=0)
        .__add__(timedelta(days=1))
        .strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "redeemed_at": None,
    }


@pytest.mark.contract("receipt.claims")
def test_an_edit_covers_the_arguments_that_may_run(
    api: Api, plenty: str, approved: Approved
) -> None:
    edited = {**ARGUMENTS, "amount": 25.5}
    request_id = approved("edit", given={"arguments": edited, "edited": ["amount"]})
    path = f"/v1/api/requests/{request_id}"
    claims = verify(granted(api(plenty).get(f"{path}/receipt"), READ)["receipt"]).claims
    assert claims["action"] == "edit"
    response = api(plenty).post(f"{path}/redeem", {"arguments": ARGUMENTS})
    refused(response, 409, "Arguments differ from the approved ones", {"path": "arguments.amount"})
    granted(api(plenty).post(f"{path}/redeem", {"arguments": edited}), REDEEMED)


MAJORITY = {"rule": "majority", "answers": 3, "blind": True, "exclude_creator": False, "veto": []}


@pytest.mark.contract("receipt.claims")
def test_it_names_all_who_approved_the_same(
    api: Api, plenty: str, owner: User, member: User, outsider: User, approved: Approved
) -> None:
    request_id = approved()
    same = {"edited": [], "arguments": json.loads(json.dumps(ARGUMENTS, sort_keys=True))}
    add_answer(request_id, owner, {"action": "approve", **same})
    add_answer(request_id, outsider, {"action": "reject"})
    Request.objects.filter(pk=request_id).update(policy=MAJORITY, outcome="decided")
    path = f"/v1/api/requests/{request_id}/receipt"
    claims = verify(granted(api(plenty).get(path), READ)["receipt"]).claims
    assert claims["policy"] == MAJORITY
    assert claims["answered_by"] == [
        {"id": member.pk, "name": member.name},
        {"id": owner.pk, "name": owner.name},
    ]
    assert statements(lambda: api(plenty).get(path)) == 4  # whether one of them was erased


@pytest.mark.contract("receipt.none")
@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        ("no_agreement", "the answers did not agree"),
        ("unreachable", "too few people could still answer"),
        ("default", "nobody approved it in time"),
        ("too few", "too few people answered in time"),
        ("vetoed", "the request was vetoed"),
    ],
)
def test_a_policy_that_was_not_met(
    api: Api, plenty: str, ask: Ask, member: User, outcome: str, reason: str
) -> None:
    request_id = ask()
    turn_into_approval(request_id)
    if outcome == "vetoed":
        decide(request_id, member)
    else:
        moments.let_pass(request_id, hours=2)
        api(plenty).get(f"/v1/api/requests/{request_id}")
    few = outcome == "too few"
    Request.objects.filter(pk=request_id).update(
        policy=MAJORITY, outcome="default" if few else outcome, answers_received=few
    )
    response = api(plenty).get(f"/v1/api/requests/{request_id}/receipt")
    refused(response, 400, NONE, reason)


@pytest.mark.contract("receipt.same", "receipt.keys")
def test_every_read_returns_the_same_receipt(
    api: Api, plenty: str, member: User, member_key: str, approved: Approved
) -> None:
    path = f"/v1/api/requests/{approved()}/receipt"
    first = granted(api(plenty).get(path), READ)
    member.name = "Somebody Else"
    member.save(update_fields=["name"])
    signing_keys.rotate()
    assert granted(api(plenty).get(path), READ) == first
    assert granted(api(member_key).get(path), READ) == first


@pytest.mark.contract("receipt.expiry")
@pytest.mark.parametrize("seconds", [60, 2_592_000])
def test_the_asker_says_how_long_it_is_valid(
    api: Api, plenty: str, approved: Approved, seconds: int
) -> None:
    request_id = approved(approval_valid_seconds=seconds)
    data = granted(api(plenty).get(f"/v1/api/requests/{request_id}/receipt"), READ)
    claims = verify(data["receipt"]).claims
    answered_at = datetime.fromisoformat(claims["answered_at"])
    assert claims["exp"] == int(answered_at.timestamp()) + seconds


@pytest.mark.contract("receipt.none", "redeem.none")
def test_only_approved_requests_have_one(
    api: Api, plenty: str, ask: Ask, member: User, approved: Approved
) -> None:
    other, open_one, claimed, late, gone = ask(), ask(), ask(), ask(), ask()
    moments.answer(other, member)
    for each in (open_one, claimed, late, gone):
        turn_into_approval(each)
    moments.claim(claimed, member)
    moments.let_pass(late, hours=2)
    api(plenty).delete(f"/v1/api/requests/{gone}")
    reasons = {
        other: "response_type must be approval",
        open_one: "the request is still open",
        claimed: "the request is still open",
        late: "nobody approved it in time",
        gone: "the request was cancelled",
        approved("reject"): "the request was rejected",
        approved("respond", given={"message": "Why?"}): "the request was answered with a message",
    }
    for request_id, reason in reasons.items():
        path = f"/v1/api/requests/{request_id}"
        refused(api(plenty).get(f"{path}/receipt"), 400, NONE, reason)
        refused(api(plenty).post(f"{path}/redeem", {"arguments": ARGUMENTS}), 400, NONE, reason)
    assert not Receipt.objects.exists()


@pytest.mark.contract(
    "receipt.denied", "receipt.missing", "receipt.malformed", "redeem.denied", "redeem.missing"
)
def test_strangers_get_none(
    api: Api, plenty: str, member_key: str, outsider_key: str, approved: Approved
) -> None:
    path = f"/v1/api/requests/{approved()}"
    body = {"arguments": ARGUMENTS}
    refused(api(outsider_key).get(f"{path}/receipt"), 403, "Access denied to this request")
    for key in (outsider_key, member_key):  # a reviewer spends nothing
        refused(api(key).post(f"{path}/redeem", body), 403, "Access denied to this request")
    nowhere = f"/v1/api/requests/{NOWHERE}"
    refused(api(plenty).get(f"{nowhere}/receipt"), 404, "Request not found")
    refused(api(plenty).post(f"{nowhere}/redeem", body), 404, "Request not found")
    refused(api(plenty).get("/v1/api/requests/x/receipt"), 400, "Invalid request ID format")
    granted(api(plenty).post(f"{path}/redeem", body), REDEEMED)


@pytest.mark.contract("redeem.data", "redeem.again")
def test_it_is_redeemed_once(api: Api, plenty: str, approved: Approved) -> None:
    request_id = approved()
    path = f"/v1/api/requests/{request_id}"
    reordered = json.loads(json.dumps(ARGUMENTS, sort_keys=True))
    data = granted(api(plenty).post(f"{path}/redeem", {"arguments": reordered}), REDEEMED)
    assert data["redeemed_at"] is not None
    again = api(plenty).post(f"{path}/redeem", {"arguments": ARGUMENTS})
    refused(again, 409, "Receipt was already redeemed", {"redeemed_at": data["redeemed_at"]})
    assert granted(api(plenty).get(f"{path}/receipt"), READ) == data
    assert Receipt.objects.get().redeemed_with == ApiKey.objects.get(name="plenty")


@pytest.mark.contract("redeem.other", "redeem.canonical")
@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({**ARGUMENTS, "amount": 41}, "arguments.amount"),
        ({**ARGUMENTS, "amount": "40"}, "arguments.amount"),
        ({**ARGUMENTS, "lines": [{"sku": "x", "count": 3}]}, "arguments.lines[0].count"),
        ({**ARGUMENTS, "lines": []}, "arguments.lines[0]"),
        ({**ARGUMENTS, "__proto__": {}}, "arguments.__proto__"),
        ({}, "arguments.order"),
    ],
)
def test_other_arguments_spend_nothing(
    api: Api, plenty: str, approved: Approved, arguments: dict[str, Any], path: str
) -> None:
    address = f"/v1/api/requests/{approved()}/redeem"
    response = api(plenty).post(address, {"arguments": arguments})
    refused(response, 409, "Arguments differ from the approved ones", {"path": path})
    granted(api(plenty).post(address, {"arguments": {**ARGUMENTS, "amount": 40.0}}), REDEEMED)


@pytest.mark.contract("redeem.name")
@pytest.mark.parametrize("name", ["delete_everything", "Refund", "refund ", ""])
def test_another_call_spends_nothing(api: Api, plenty: str, approved: Approved, name: str) -> None:
    address = f"/v1/api/requests/{approved()}/redeem"
    response = api(plenty).post(address, {"name": name, "arguments": ARGUMENTS})
    refused(response, 409, "Name differs from the approved one", {"path": "name"})
    assert not Receipt.objects.exclude(redeemed_at=None).exists()
    granted(api(plenty).post(address, {"name": "refund", "arguments": ARGUMENTS}), REDEEMED)


LARGEST = 2**53 - 1


@pytest.mark.contract("redeem.validation")
@pytest.mark.parametrize(
    ("body", "msg", "reason"),
    [
        ({}, "Validation failed", "arguments is required"),
        ({"arguments": []}, "Validation failed", "arguments must be an object"),
        ({"arguments": {}, "name": 1}, "Validation failed", "name must be a string"),
        (
            {"arguments": {"a": [LARGEST + 1]}},
            "Validation failed",
            f"arguments.a[0] must be a number between -{LARGEST} and {LARGEST}",
        ),
        (
            {"arguments": {"a": 1e300}},
            "Validation failed",
            f"arguments.a must be a number between -{LARGEST} and {LARGEST}",
        ),
        (
            {"arguments": {"a": "\ud800"}},
            "Invalid request body",
            "arguments.a must not contain lone surrogates",
        ),
        (
            {"arguments": {"a": "x" * 262_144}},
            "Invalid request body",
            "body must have at most 262144 bytes",
        ),
    ],
)
def test_bodies_that_are_not_read(
    api: Api, plenty: str, approved: Approved, body: Any, msg: str, reason: str
) -> None:
    refused(api(plenty).post(f"/v1/api/requests/{approved()}/redeem", body), 400, msg, reason)
    assert not Receipt.objects.exclude(redeemed_at=None).exists()


@pytest.mark.contract("redeem.twice")
@pytest.mark.parametrize(
    ("body", "path"),
    [
        (b'{"arguments": {"a": 1}, "arguments": {"a": 2}}', "arguments"),
        (b'{"name": "x", "n\\u0061me": "y", "arguments": {}}', "name"),
        (b'{"arguments": {"a": [1, {"b": 1, "b": 1}]}}', "arguments.a[1].b"),
        (b'{"other": {"": 1, "": 1}, "arguments": {}}', "other."),
    ],
)
def test_a_name_that_occurs_twice(
    api: Api, plenty: str, approved: Approved, body: bytes, path: str
) -> None:
    """Another program may read the other of the two values (RFC 8785)."""
    response = api(plenty).post(f"/v1/api/requests/{approved()}/redeem", body)
    refused(response, 400, "Invalid request body", f"{path} must not occur twice")
    assert not Receipt.objects.exclude(redeemed_at=None).exists()


@pytest.mark.contract("redeem.expired", "receipt.leeway")
def test_an_expired_one_cannot_be_redeemed(api: Api, plenty: str, approved: Approved) -> None:
    request_id = approved()
    path = f"/v1/api/requests/{request_id}"
    granted(api(plenty).get(f"{path}/receipt"), READ)
    let_expire(request_id)
    shown = granted(api(plenty).get(f"{path}/receipt"), READ)  # it is still a proof
    response = api(plenty).post(f"{path}/redeem", {"arguments": ARGUMENTS})
    refused(response, 400, "Receipt has expired", {"expires_at": shown["expires_at"]})


def test_one_that_was_replaced_is_only_linked(
    api: Api, plenty: str, loop: Loop, approved: Approved
) -> None:
    request_id = approved()
    path = f"/v1/api/requests/{request_id}"
    newer = {**QUESTION, "replaces": request_id}
    assert api(plenty).post(f"/v1/api/loops/{loop.pk}/requests", newer).status_code == 201
    assert json_of(api(plenty).get(path))["data"]["request"]["superseded_by"]
    granted(api(plenty).post(f"{path}/redeem", {"arguments": ARGUMENTS}), REDEEMED)


def test_one_that_expired_before_it_was_issued(api: Api, plenty: str, approved: Approved) -> None:
    request_id = approved(approval_valid_seconds=60)
    back = timedelta(minutes=2)
    Request.objects.filter(pk=request_id).update(response_at=F("response_at") - back)
    response = api(plenty).post(f"/v1/api/requests/{request_id}/redeem", {"arguments": ARGUMENTS})
    assert response.status_code == 400
    assert json_of(response)["msg"] == "Receipt has expired"


def test_a_repeated_call_gets_the_first_response(api: Api, plenty: str, approved: Approved) -> None:
    path = f"/v1/api/requests/{approved()}/redeem"
    body, header = {"arguments": ARGUMENTS}, {"Idempotency-Key": "one"}
    first = api(plenty).post(path, body, **header)
    again = api(plenty).post(path, body, **header)
    assert granted(again, REDEEMED) == granted(first, REDEEMED)
    assert again["Idempotent-Replayed"] == "true"
    other = api(plenty).post(path, body, **{"Idempotency-Key": "other"})
    assert json_of(other)["msg"] == "Receipt was already redeemed"


def test_how_many_statements_it_takes(api: Api, plenty: str, approved: Approved) -> None:
    path = f"/v1/api/requests/{approved()}"
    body = {"arguments": ARGUMENTS}
    read, redeem = (
        (lambda: api(plenty).get(f"{path}/receipt")),
        (lambda: api(plenty).post(f"{path}/redeem", body)),
    )
    signing_keys.list_public_keys()  # the first key is there
    # key, request, receipt; then request with its lock, receipt, signing key, answers, insert
    assert statements(read) == 8
    assert statements(read) == 3
    assert statements(redeem) == 4
    assert statements(redeem, status=409) == 3


@pytest.mark.contract("redeem.once")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_issued", [True, False])
def test_of_fifty_calls_one_redeems(
    api: Api, plenty: str, approved: Approved, is_issued: bool
) -> None:
    path = f"/v1/api/requests/{approved()}"
    if is_issued:
        granted(api(plenty).get(f"{path}/receipt"), READ)
    together = threading.Barrier(50)

    def redeem(_: int) -> tuple[int, Any]:
        together.wait(60)
        try:
            response = api(plenty).post(f"{path}/redeem", {"arguments": ARGUMENTS})
            return response.status_code, json_of(response)["data"]["redeemed_at"]
        finally:
            connection.close()

    with ThreadPoolExecutor(50) as pool:
        results = sorted(pool.map(redeem, range(50)))
    assert [status for status, _ in results] == [200] + [409] * 49
    assert len({at for _, at in results}) == 1
    assert Receipt.objects.count() == SigningKey.objects.count() == 1
