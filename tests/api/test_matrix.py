"""Every operation with every kind of caller, and with everything that can be wrong with a key."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from django.http import HttpResponse

from accounts.models import ApiKey, User
from accounts.services import create_api_key
from loops.models import Loop
from tests.api import moments
from tests.api.operations import (
    CANCEL,
    CHECK,
    CREATE,
    CREATE_ENDPOINT,
    CREATE_LOOP,
    DECISIONS,
    DELETE_ENDPOINT,
    DELETE_LOOP,
    LIST,
    LIST_ENDPOINTS,
    LIST_LOOPS,
    LIST_MEMBERS,
    LOOP_LIST,
    OPERATIONS,
    RATE,
    READ,
    READ_ENDPOINT,
    READ_LOOP,
    RECEIPT,
    REDEEM,
    REMOVE_MEMBER,
    ROTATE,
    STATISTICS,
    STREAM,
    UPDATE_ENDPOINT,
    UPDATE_LOOP,
    Operation,
)
from tests.api.wire import NOWHERE, Ask, body_of, json_of, send
from tests.reviews.approvals import decide, turn_into_approval
from webhooks.endpoints import create_endpoint

pytestmark = pytest.mark.django_db

ALL = ["loops:read", "loops:write", "requests:read", "requests:write"]
WELL = (200, "")
LOOP_MALFORMED = (400, "Invalid loop ID format")
LOOP_MISSING = (404, "Loop not found")
LOOP_DENIED = (403, "Access denied to this loop")
REQUEST_MALFORMED = (400, "Invalid request ID format")
REQUEST_MISSING = (404, "Request not found")
REQUEST_DENIED = (403, "Access denied to this request")
ENDPOINT_MALFORMED = (400, "Invalid webhook endpoint ID format")
ENDPOINT_MISSING = (404, "Webhook endpoint not found")
ONLY_UPDATE = (403, "Only loop creator can update the loop")
ONLY_DELETE = (403, "Only loop creator can delete the loop")
ONLY_REMOVE = (403, "Only loop creator can remove members")
ONLY_CREATE = (403, "Only loop creators can create requests")


@dataclass
class Scene:
    """A loop with a completed, an approved and a pending request, and the ids of paths."""

    loop: str
    done: str
    approved: str
    pending: str
    user: str
    endpoint: str

    def send(self, operation: Operation, authorization: str | None, **ids: str) -> HttpResponse:
        """The operation on this scene; `ids` replace what the path is made of."""
        request = self.pending if operation is CANCEL else self.done
        if operation in (RECEIPT, REDEEM):
            request = self.approved
        places = {
            "loop": self.loop,
            "request": request,
            "user": self.user,
            "endpoint": self.endpoint,
            **ids,
        }
        raw = b"" if operation.body is None else json.dumps(operation.body).encode()
        return send(operation.method, operation.path.format(**places), authorization, raw)


@pytest.fixture
def scene(loop: Loop, member: User, ask: Ask) -> Scene:
    """The usual loop, with something to read, to cancel and to rate."""
    done, approved, pending = ask(), ask(), ask()
    moments.answer(done, member)
    turn_into_approval(approved)
    decide(approved, member)
    endpoint, _ = create_endpoint(
        account=loop.creator, url="https://receiver.example/", events=["request.created"],
        loop_ids=None,
    )  # fmt: skip
    return Scene(
        loop=loop.pk, done=done, approved=approved, pending=pending, user=member.pk,
        endpoint=endpoint.pk,
    )  # fmt: skip


IDS = ("loop", "request", "user", "endpoint")


def of(operation: Operation) -> str:
    return str(operation)


def says(response: HttpResponse, status: int, msg: str) -> None:
    """The answer has this status and sentence, and no detail."""
    expected = {"error": True, "msg": msg, "data": {}}
    assert (response.status_code, body_of(response)) == (status, expected)


@pytest.mark.contract(
    "auth.missing", "auth.format", "auth.empty", "auth.required", "auth.invalid", "auth.bearer"
)
@pytest.mark.parametrize(
    ("authorization", "msg"),
    [
        (None, "Missing Authorization header"),
        ("", "API key required"),
        ("Basic {key}", "Invalid Authorization header format. Use 'Bearer <api_key>'"),
        ("Bearer ", "Empty API key"),
        ("Bearer " + "rl_live_" + "0" * 36, "Invalid API key"),
    ],
    ids=["no header", "empty header", "wrong scheme", "empty key", "unknown key"],
)
@pytest.mark.parametrize("operation", OPERATIONS, ids=of)
def test_no_key(operation: Operation, owner_key: str, authorization: str | None, msg: str) -> None:
    ids = dict.fromkeys(IDS, NOWHERE)
    header = authorization and authorization.format(key=owner_key)
    answer = send(operation.method, operation.path.format(**ids), header, b"")
    says(answer, 401, msg)
    assert (answer["X-RateLimit-Limit"], answer["X-RateLimit-Remaining"]) == ("100", "0")


@pytest.mark.contract("auth.inactive")
@pytest.mark.parametrize("operation", OPERATIONS, ids=of)
def test_an_inactive_key(operation: Operation, owner: User, owner_key: str) -> None:
    ApiKey.objects.filter(user=owner).update(state="inactive")
    ids = dict.fromkeys(IDS, NOWHERE)
    answer = send(operation.method, operation.path.format(**ids), f"Bearer {owner_key}")
    says(answer, 401, "API key is inactive")


@pytest.mark.contract(
    "auth.loops_read",
    "auth.loops_write",
    "auth.requests_read",
    "auth.requests_write",
    "auth.write_not_read",
    "auth.denied",
    "auth.test_free",
)
@pytest.mark.parametrize("operation", OPERATIONS, ids=of)
def test_a_missing_permission(operation: Operation, scene: Scene, owner: User) -> None:
    others = [permission for permission in ALL if permission != operation.permission]
    _, secret = create_api_key(user=owner, name="others", permissions=others)
    answer = scene.send(operation, f"Bearer {secret}")
    if operation is CHECK:
        assert answer.status_code == 200
    else:
        says(answer, 403, "Access denied to this resource")
    answer = scene.send(operation, f"Bearer {secret}", loop="x", request="x", endpoint="x")
    assert answer.status_code == (200 if operation is CHECK else 403)


@pytest.mark.contract(
    "auth.loops_read", "auth.loops_write", "auth.requests_read", "auth.requests_write"
)
@pytest.mark.parametrize("operation", OPERATIONS, ids=of)
def test_the_one_permission_that_it_needs(operation: Operation, scene: Scene, owner: User) -> None:
    only = [operation.permission] if operation.permission else []
    _, secret = create_api_key(user=owner, name="only", permissions=only)
    assert scene.send(operation, f"Bearer {secret}").status_code in (200, 201)


@pytest.mark.contract("auth.account_inactive")
@pytest.mark.parametrize("operation", OPERATIONS, ids=of)
def test_an_inactive_account(operation: Operation, owner: User, owner_key: str) -> None:
    User.objects.filter(pk=owner.pk).update(is_active=False)
    ids = dict.fromkeys(IDS, "x")
    answer = send(operation.method, operation.path.format(**ids), f"Bearer {owner_key}")
    if operation is CHECK:
        assert json_of(answer)["data"]["account_status"] == "inactive"
    else:
        says(answer, 403, "Access denied to this resource")


@pytest.mark.contract("quota.over", "quota.rate", "quota.over_data")
@pytest.mark.usefixtures("steady_hour")
@pytest.mark.parametrize("operation", OPERATIONS, ids=of)
def test_an_exhausted_quota(operation: Operation, owner: User) -> None:
    _, secret = create_api_key(user=owner, name="one", permissions=[], hourly_limit=1)
    send("GET", "/v1/test", f"Bearer {secret}")
    ids = dict.fromkeys(IDS, "x")
    answer = send(operation.method, operation.path.format(**ids), f"Bearer {secret}")
    body = body_of(answer)
    assert (answer.status_code, body["error"]) == (429, True)
    assert body["msg"] == "API rate limit exceeded"
    assert body["data"] == {
        "usage_count": 1,
        "usage_limit": 1,
        "remaining": 0,
        "reset_at": body["data"]["reset_at"],
    }
    assert int(answer["Retry-After"]) >= 1


# Everyone with a working key and all permissions, on everything that has an id.
EXPECTED: list[tuple[Operation, Any, Any, Any, Any, Any]] = [
    # operation, malformed id, unknown id, stranger, member, owner
    (CHECK, None, None, WELL, WELL, (200, "API key is valid")),
    (
        *(CREATE_LOOP, None, None, (201, ""), (201, "")),
        (201, "Loop created successfully with QR code"),
    ),
    (LIST_LOOPS, None, None, WELL, WELL, (200, "Loops retrieved successfully")),
    (
        *(READ_LOOP, LOOP_MALFORMED, LOOP_MISSING, LOOP_DENIED, LOOP_DENIED),
        (200, "Loop retrieved successfully"),
    ),
    (
        *(UPDATE_LOOP, LOOP_MALFORMED, LOOP_MISSING, ONLY_UPDATE, ONLY_UPDATE),
        (200, "Loop updated successfully"),
    ),
    (
        *(DELETE_LOOP, LOOP_MALFORMED, LOOP_MISSING, ONLY_DELETE, ONLY_DELETE),
        (200, "Loop deleted successfully"),
    ),
    (
        *(LIST_MEMBERS, LOOP_MALFORMED, LOOP_MISSING, LOOP_DENIED, LOOP_DENIED),
        (200, "Loop members retrieved successfully"),
    ),
    (
        *(REMOVE_MEMBER, LOOP_MALFORMED, LOOP_MISSING, ONLY_REMOVE, ONLY_REMOVE),
        (200, "Member removed from loop successfully"),
    ),
    (
        *(CREATE, LOOP_MALFORMED, LOOP_MISSING, ONLY_CREATE, ONLY_CREATE),
        (201, "Request created and broadcasted successfully"),
    ),
    (
        *(LOOP_LIST, LOOP_MALFORMED, LOOP_MISSING, LOOP_DENIED, WELL),
        (200, "Loop requests retrieved successfully"),
    ),
    (LIST, None, None, WELL, WELL, (200, "Requests retrieved successfully")),
    (
        *(READ, REQUEST_MALFORMED, REQUEST_MISSING, REQUEST_DENIED, WELL),
        (200, "Request retrieved successfully"),
    ),
    (
        *(CANCEL, REQUEST_MALFORMED, REQUEST_MISSING, REQUEST_MISSING, REQUEST_MISSING),
        (200, "Request cancelled successfully"),
    ),
    (
        *(RATE, REQUEST_MALFORMED, REQUEST_MISSING, REQUEST_DENIED, REQUEST_DENIED),
        (200, "Feedback added successfully"),
    ),
    (
        *(RECEIPT, REQUEST_MALFORMED, REQUEST_MISSING, REQUEST_DENIED, WELL),
        (200, "Receipt retrieved successfully"),
    ),
    (
        *(REDEEM, REQUEST_MALFORMED, REQUEST_MISSING, REQUEST_DENIED, REQUEST_DENIED),
        (200, "Approval redeemed successfully"),
    ),
    (
        *(LIST_ENDPOINTS, None, None, WELL, WELL),
        (200, "Webhook endpoints retrieved successfully"),
    ),
    (
        *(CREATE_ENDPOINT, None, None, (201, ""), (201, "")),
        (201, "Webhook endpoint created successfully"),
    ),
    *(
        (operation, ENDPOINT_MALFORMED, ENDPOINT_MISSING, ENDPOINT_MISSING, ENDPOINT_MISSING, done)
        for operation, done in (
            (READ_ENDPOINT, (200, "Webhook endpoint retrieved successfully")),
            (UPDATE_ENDPOINT, (200, "Webhook endpoint updated successfully")),
            (ROTATE, (200, "Webhook secret rotated successfully")),
            (DELETE_ENDPOINT, (200, "Webhook endpoint deleted successfully")),
        )
    ),
    (
        *(STATISTICS, LOOP_MALFORMED, LOOP_MISSING, LOOP_DENIED, LOOP_DENIED),
        (200, "Loop statistics retrieved successfully"),
    ),
]


def test_the_matrix_is_whole() -> None:
    """But for what sends no envelope: the stream, and the export (tests/api/test_decisions.py)."""
    assert [*(row[0] for row in EXPECTED), DECISIONS, STREAM] == OPERATIONS


@pytest.mark.contract(
    "webhook_endpoint.malformed",
    "webhook_endpoint.owner",
    "auth.scope",
    "auth.loop_rules",
    "auth.request_rules",
    "status.400",
    "status.403",
    "status.404",
    "webhook_endpoint.malformed",
    "webhook_endpoint.owner",
)
@pytest.mark.parametrize(
    ("operation", "malformed", "unknown", "stranger", "member_gets", "owner_gets"),
    EXPECTED,
    ids=[str(row[0]) for row in EXPECTED],
)
def test_everyone_who_has_a_key(
    operation: Operation,
    malformed: tuple[int, str] | None,
    unknown: tuple[int, str] | None,
    stranger: tuple[int, str],
    member_gets: tuple[int, str],
    owner_gets: tuple[int, str],
    scene: Scene,
    owner_key: str,
    member_key: str,
    outsider_key: str,
) -> None:
    if malformed and unknown:
        says(
            scene.send(operation, f"Bearer {owner_key}", loop="x", request="x", endpoint="x"),
            *malformed,
        )
        answer = scene.send(operation, f"Bearer {owner_key}", **dict.fromkeys(IDS, NOWHERE))
        says(answer, *unknown)
    everyone = ((outsider_key, stranger), (member_key, member_gets), (owner_key, owner_gets))
    for key, (status, msg) in everyone:
        answer = scene.send(operation, f"Bearer {key}")
        if status >= 400:
            says(answer, status, msg)
        else:
            assert (answer.status_code, body_of(answer)["error"]) == (status, False)
            assert msg in ("", body_of(answer)["msg"])
