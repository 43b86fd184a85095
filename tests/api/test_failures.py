"""Responses when the database fails or is unreachable."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection

from accounts.models import User
from loops.models import Loop, Membership
from reviews.models import Feedback, Request
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
from tests.api.test_matrix import Scene
from tests.api.wire import Ask, body_of, refused, send
from tests.outage import out_of_reach
from tests.reviews.approvals import decide, turn_into_approval
from webhooks.endpoints import create_endpoint

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def scene(loop: Loop, member: User, ask: Ask) -> Scene:
    """A loop with a completed, an approved and a pending request."""
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


@contextmanager
def without_privilege(privilege: str, table: str) -> Iterator[None]:
    """The connection as a role that may do everything but `privilege` on `table`."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_database()")
        role = f'"limited_{cursor.fetchone()[0]}"'
        cursor.execute(f"CREATE ROLE {role} NOLOGIN")
        for kind in ("TABLES", "SEQUENCES"):
            cursor.execute(f"GRANT ALL ON ALL {kind} IN SCHEMA public TO {role}")
        cursor.execute(f"REVOKE {privilege} ON {table} FROM {role}")
        cursor.execute(f"SET ROLE {role}")
        try:
            yield
        finally:
            cursor.execute("RESET ROLE")
            cursor.execute(f"DROP OWNED BY {role}")
            cursor.execute(f"DROP ROLE {role}")


_ENDPOINTS = "accounts_webhookendpoint"
FAILURES = [
    (CHECK, "SELECT", "accounts_apikey", "Failed to get user information"),
    (CREATE_LOOP, "INSERT", "loops_loop", "Failed to create loop"),
    (CREATE_LOOP, "INSERT", "loops_membership", "Failed to create loop"),
    (LIST_LOOPS, "SELECT", "loops_loop", "Failed to retrieve loops"),
    (LIST_LOOPS, "INSERT", "accounts_usage", "Failed to retrieve loops"),
    (READ_LOOP, "SELECT", "loops_loop", "Failed to retrieve loop"),
    (UPDATE_LOOP, "UPDATE", "loops_loop", "Failed to update loop"),
    (DELETE_LOOP, "UPDATE", "loops_loop", "Failed to delete loop"),
    (DELETE_LOOP, "UPDATE", "reviews_request", "Failed to delete loop"),
    (LIST_MEMBERS, "SELECT", "loops_membership", "Failed to retrieve loop members"),
    (REMOVE_MEMBER, "DELETE", "loops_membership", "Failed to remove member"),
    (REMOVE_MEMBER, "UPDATE", "reviews_request", "Failed to remove member"),
    (CREATE, "INSERT", "reviews_request", "Failed to create request"),
    (LOOP_LIST, "SELECT", "reviews_request", "Failed to retrieve loop requests"),
    (LIST, "SELECT", "reviews_request", "Failed to retrieve requests"),
    (READ, "SELECT", "reviews_request", "Failed to retrieve request"),
    (CANCEL, "UPDATE", "reviews_request", "Failed to cancel request"),
    (CANCEL, "UPDATE", "accounts_usage", "Failed to cancel request"),
    (RATE, "INSERT", "reviews_feedback", "Failed to add feedback"),
    (RECEIPT, "INSERT", "reviews_receipt", "Failed to retrieve receipt"),
    (REDEEM, "UPDATE", "reviews_receipt", "Failed to redeem receipt"),
    (LIST_ENDPOINTS, "SELECT", _ENDPOINTS, "Failed to retrieve webhook endpoints"),
    (CREATE_ENDPOINT, "INSERT", _ENDPOINTS, "Failed to create webhook endpoint"),
    (CREATE_ENDPOINT, "INSERT", "accounts_auditentry", "Failed to create webhook endpoint"),
    (READ_ENDPOINT, "SELECT", _ENDPOINTS, "Failed to retrieve webhook endpoint"),
    (UPDATE_ENDPOINT, "UPDATE", _ENDPOINTS, "Failed to update webhook endpoint"),
    (UPDATE_ENDPOINT, "UPDATE", "webhooks_delivery", "Failed to update webhook endpoint"),
    (ROTATE, "UPDATE", _ENDPOINTS, "Failed to rotate webhook secret"),
    (DELETE_ENDPOINT, "DELETE", _ENDPOINTS, "Failed to delete webhook endpoint"),
    (STATISTICS, "SELECT", "reviews_viewer", "Failed to retrieve loop statistics"),
    (DECISIONS, "INSERT", "reviews_exportlease", "Failed to export decisions"),
    (STREAM, "SELECT", "webhooks_loggedevent", "Failed to retrieve events"),
]


@pytest.mark.contract(
    "test.failed",
    "create_loop.failed",
    "list_loops.failed",
    "read_loop.failed",
    "update_loop.failed",
    "delete_loop.failed",
    "list_members.failed",
    "remove_member.failed",
    "create.failed",
    "loop_list.failed",
    "list.failed",
    "read.failed",
    "cancel.failed",
    "feedback.failed",
    "receipt.failed",
    "redeem.failed",
    "create_endpoint.failed",
    "list_endpoints.failed",
    "read_endpoint.failed",
    "update_endpoint.failed",
    "delete_endpoint.failed",
    "rotate_endpoint.failed",
    "loop_statistics.failed",
    "loop_decisions.failed",
    "status.500",
)
@pytest.mark.parametrize(
    ("operation", "privilege", "table", "msg"),
    FAILURES,
    ids=[f"{row[0]}, no {row[1]} on {row[2]}" for row in FAILURES],
)
def test_a_revoked_privilege(
    scene: Scene, owner_key: str, operation: Operation, privilege: str, table: str, msg: str
) -> None:
    before = _everything()
    with without_privilege(privilege, table):
        answer = scene.send(operation, f"Bearer {owner_key}")
        refused(answer, 500, msg)
    assert _everything() == before
    assert scene.send(operation, f"Bearer {owner_key}").status_code in (200, 201)


def test_every_operation_has_its_sentence() -> None:
    named = [row[0] for row in FAILURES]
    assert all(operation in named for operation in OPERATIONS)


@pytest.mark.contract("status.503", "quota.headers")
@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_a_database_out_of_reach(operation: Operation, owner_key: str) -> None:
    with out_of_reach():
        names = ("loop", "done", "approved", "pending", "user", "endpoint")
        scene = Scene(**dict.fromkeys(names, "0" * 24))
        answer = scene.send(operation, f"Bearer {owner_key}")
        refused(answer, 503, "Service temporarily unavailable")
        assert answer["X-RateLimit-Limit"].isdigit()
        assert answer["Retry-After"] == "2"


@pytest.mark.contract("status.503")
def test_the_rest_while_the_database_is_out_of_reach(owner_key: str) -> None:
    with out_of_reach():
        refused(send("GET", "/v1/nothing"), 404, "Not found")
        refused(send("GET", "/v1/nothing", f"Bearer {owner_key}"), 404, "Not found")
        refused(send("POST", "/v1/test", f"Bearer {owner_key}"), 405, "Method not allowed")
        refused(send("GET", "/v1/test"), 401, "Missing Authorization header")
    assert send("GET", "/v1/test", f"Bearer {owner_key}").status_code == 200


@pytest.mark.contract("status.503")
def test_a_connection_that_the_server_ended(owner_key: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    finally:
        other.close()
    answer = send("GET", "/v1/test", f"Bearer {owner_key}")
    refused(answer, 503, "Service temporarily unavailable")
    connection.close()
    assert body_of(send("GET", "/v1/test", f"Bearer {owner_key}"))["error"] is False


def _everything() -> list[Any]:
    """All that a failed call must not have touched."""
    models: list[Any] = [Loop, Membership, Request, Feedback]
    return [sorted(map(str, model.objects.order_by("pk").values_list())) for model in models]
