"""/v1/api/webhook-endpoints: made, read, changed, rotated and deleted."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.core import mail
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from accounts.endpoint_services import read_secrets
from accounts.models import ApiKey, AuditEntry, StoredResponse, User, WebhookEndpoint
from accounts.services import set_key_state
from api import webhook_endpoints
from db.ids import new_id
from loops.models import Loop
from loops.services import create_loop
from reviews.services import delete_loop
from tests.accounts.test_review_tokens import begin
from tests.api.wire import Api, body_of, granted, json_of
from tests.backends import waiting_for_locks
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db
PATH = "/v1/api/webhook-endpoints"
URL = "https://user:pw@router.example:8443/hook?x=1"
EVENTS = ["request.created", "request.claimed", "request.completed", "request.timeout",
          "request.cancelled"]  # fmt: skip
BODY: dict[str, Any] = {"url": URL, "events": ["request.completed", "request.created"]}
CREATED = "Webhook endpoint created successfully"
UPDATED = "Webhook endpoint updated successfully"


class Caller:
    """Calls with one key, and knows the path of an endpoint."""

    def __init__(self, api: Api, key: str) -> None:
        self.client = api(key)

    def make(self, **changes: Any) -> dict[str, Any]:
        data = granted(self.client.post(PATH, {**BODY, **changes}), CREATED, status=201)
        return dict(data)

    def id(self, **changes: Any) -> str:
        return str(self.make(**changes)["webhook_endpoint"]["id"])

    def read(self, endpoint_id: str) -> dict[str, Any]:
        said = "Webhook endpoint retrieved successfully"
        return dict(granted(self.client.get(f"{PATH}/{endpoint_id}"), said)["webhook_endpoint"])

    def change(self, endpoint_id: str, **changes: Any) -> dict[str, Any]:
        answer = self.client.put(f"{PATH}/{endpoint_id}", changes)
        return dict(granted(answer, UPDATED)["webhook_endpoint"])


@pytest.fixture
def caller(api: Api, plenty: str) -> Caller:
    return Caller(api, plenty)


def refused(answer: Any, detail: str) -> None:
    expected = {"error": True, "msg": "Validation failed", "data": detail}
    assert (answer.status_code, body_of(answer)) == (400, expected)


def says(answer: Any, status: int, msg: str) -> None:
    assert (answer.status_code, body_of(answer)) == (
        status,
        {"error": True, "msg": msg, "data": {}},
    )


@pytest.mark.contract(
    "webhook_endpoint.id", "webhook_endpoint.url", "webhook_endpoint.events",
    "webhook_endpoint.loop_ids", "webhook_endpoint.enabled", "webhook_endpoint.secret_changed_at",
    "webhook_endpoint.times", "webhook_endpoint.secret", "create_endpoint.msg",
    "list_endpoints.data", "list_endpoints.msg", "read_endpoint.msg",
)  # fmt: skip
def test_create_and_read(caller: Caller, owner: User) -> None:
    data = caller.make(unknown=1)
    endpoint = data["webhook_endpoint"]
    assert endpoint == {
        "id": endpoint["id"],
        "url": URL,
        "events": ["request.created", "request.completed"],
        "loop_ids": [],
        "enabled": True,
        "secret_changed_at": endpoint["created_at"],
        "created_at": endpoint["created_at"],
        "updated_at": endpoint["created_at"],
    }
    secrets = read_secrets(endpoint["id"], account_id=owner.pk)
    assert secrets
    assert data["secret"] == secrets.current.text
    assert data["secret"].startswith("whsec_")
    later = caller.make(enabled=False)["webhook_endpoint"]
    answer = caller.client.get(PATH)
    listed = granted(answer, "Webhook endpoints retrieved successfully")
    assert listed == {"webhook_endpoints": [endpoint, later], "count": 2}
    assert caller.read(endpoint["id"].upper()) == endpoint
    assert "whsec_" not in answer.content.decode()


def test_a_list_takes_the_same_statements_for_one_and_five(caller: Caller) -> None:
    counts = []
    for more in (1, 4):
        for _ in range(more):
            caller.make()
        with CaptureQueriesContext(connection) as queries:
            caller.client.get(PATH)
        counts.append(len(queries))
    assert counts[0] == counts[1]


@pytest.mark.contract("create_endpoint.url", "create_endpoint.events")
@pytest.mark.parametrize(
    ("changes", "detail"),
    [
        ({"url": None}, "url is required"),
        ({"url": ""}, "url is required"),
        ({"url": 7}, "url must be a string"),
        (
            {"url": "ftp://router.example/"},
            "url must be an absolute http or https URL of at most 2048 characters",
        ),
        ({"url": "http://10.0.0.1/hook"}, "url must have a public address"),
        ({"url": "http://[::ffff:10.0.0.1]/"}, "url must have a public address"),
        ({"url": "http://169.254.169.254/latest"}, "url must have a public address"),
        ({"events": None}, "events is required"),
        ({"events": []}, f"events must be one or more of: {', '.join(EVENTS)}"),
        ({"events": ["request.answered"]}, f"events must be one or more of: {', '.join(EVENTS)}"),
        ({"events": ["webhook.test"]}, f"events must be one or more of: {', '.join(EVENTS)}"),
        ({"events": "request.created"}, "events must be an array of strings"),
        ({"loop_ids": ["x"]}, "loop_ids must be an array of at most 100 loop IDs"),
        (
            {"loop_ids": [new_id() for _ in range(101)]},
            "loop_ids must be an array of at most 100 loop IDs",
        ),
        ({"loop_ids": [new_id()]}, "loop_ids must be loops that your account created"),
        ({"enabled": "no"}, "enabled must be a boolean"),
    ],
)
def test_what_is_refused(
    caller: Caller, settings: Settings, changes: dict[str, Any], detail: str
) -> None:
    settings.WEBHOOK_OPEN_NETWORKS = []
    refused(caller.client.post(PATH, {**BODY, **changes}), detail)
    assert not WebhookEndpoint.objects.exists()
    if None not in changes.values() and changes != {"url": ""}:  # there, nothing would change
        endpoint_id = caller.id()
        refused(caller.client.put(f"{PATH}/{endpoint_id}", changes), detail)


@pytest.mark.contract("create_endpoint.loops", "webhook_endpoint.owner")
def test_loops_and_endpoints_of_other_accounts(
    api: Api, caller: Caller, outsider: User, outsider_key: str
) -> None:
    theirs = create_loop(owner_id=outsider.pk, name="Theirs", icon="bell")
    detail = "loop_ids must be loops that your account created"
    refused(caller.client.post(PATH, {**BODY, "loop_ids": [theirs.pk]}), detail)
    endpoint_id = caller.id()
    refused(caller.client.put(f"{PATH}/{endpoint_id}", {"loop_ids": [theirs.pk]}), detail)
    other = api(outsider_key)
    for answer in (
        other.get(f"{PATH}/{endpoint_id}"),
        other.put(f"{PATH}/{endpoint_id}", {"enabled": False}),
        other.post(f"{PATH}/{endpoint_id}/rotate"),
        other.delete(f"{PATH}/{endpoint_id}"),
    ):
        says(answer, 404, "Webhook endpoint not found")
    assert json_of(other.get(PATH))["data"]["count"] == 0
    assert caller.read(endpoint_id)["enabled"] is True


@pytest.mark.contract("update_endpoint.partial")
def test_loops_that_are_deleted_may_stay(caller: Caller, loop: Loop, owner: User) -> None:
    endpoint_id = caller.id(loop_ids=[loop.pk.upper(), loop.pk])
    assert caller.read(endpoint_id)["loop_ids"] == [loop.pk]
    delete_loop(loop_id=loop.pk, account_id=owner.pk)
    read = caller.read(endpoint_id)
    assert read["loop_ids"] == [loop.pk]
    assert caller.change(endpoint_id, **read)["loop_ids"] == [loop.pk]  # as it was read
    detail = "loop_ids must be loops that your account created"
    refused(caller.client.post(PATH, {**BODY, "loop_ids": [loop.pk]}), detail)
    assert caller.change(endpoint_id, loop_ids=[])["loop_ids"] == []


@pytest.mark.contract("create_endpoint.most")
def test_a_sixth_is_refused(caller: Caller) -> None:
    made = [caller.id() for _ in range(5)]
    says(caller.client.post(PATH, BODY), 400, "An account can have at most 5 webhook endpoints")
    caller.client.delete(f"{PATH}/{made[1]}")
    caller.make()


@pytest.mark.contract(
    "update_endpoint.partial", "update_endpoint.msg", "update_endpoint.empty",
    "update_endpoint.off",
)  # fmt: skip
def test_update(caller: Caller) -> None:
    before = caller.make()["webhook_endpoint"]
    after = caller.change(before["id"], enabled=False)
    assert after == {**before, "enabled": False, "updated_at": after["updated_at"]}
    assert after["updated_at"] > before["updated_at"]
    moved = {"url": "https://other.example/", "events": EVENTS[:1]}
    assert caller.change(before["id"], **moved)["url"] == "https://other.example/"
    says(
        caller.client.put(f"{PATH}/{before['id']}", {"url": None}),
        400,
        "At least one field must be provided for update",
    )


@pytest.mark.contract("delete_endpoint.data", "delete_endpoint.end")
def test_delete(caller: Caller) -> None:
    endpoint_id = caller.id()
    answer = caller.client.delete(f"{PATH}/{endpoint_id}")
    data = granted(answer, "Webhook endpoint deleted successfully")
    assert data == {"webhook_endpoint_id": endpoint_id}
    says(caller.client.delete(f"{PATH}/{endpoint_id}"), 404, "Webhook endpoint not found")


@pytest.mark.contract(
    "rotate_endpoint.msg", "rotate_endpoint.twice", "rotate_endpoint.force",
    "webhook_endpoint.secret",
)  # fmt: skip
def test_rotate(caller: Caller, owner: User) -> None:
    made = caller.make()
    path = f"{PATH}/{made['webhook_endpoint']['id']}/rotate"
    rotated = granted(caller.client.post(path), "Webhook secret rotated successfully")
    assert rotated["secret"] != made["secret"]
    secrets = read_secrets(made["webhook_endpoint"]["id"], account_id=owner.pk)
    assert secrets
    assert [each.text for each in secrets.in_use] == [rotated["secret"], made["secret"]]
    assert rotated["webhook_endpoint"]["secret_changed_at"] > made["webhook_endpoint"]["created_at"]
    says(caller.client.post(path, {}), 400, "The old secret of the last rotation is still valid")
    again = granted(
        caller.client.post(path, {"force": True}), "Webhook secret rotated successfully"
    )
    assert again["secret"] not in (rotated["secret"], made["secret"])
    refused(caller.client.post(path, {"force": 1}), "force must be a boolean")


@pytest.mark.contract("create_endpoint.replayed")
def test_a_repeated_call_gets_the_same_secret_which_is_stored_encrypted(caller: Caller) -> None:
    first = caller.client.post(PATH, BODY, **{"Idempotency-Key": "one"})
    again = caller.client.post(PATH, BODY, **{"Idempotency-Key": "one"})
    assert again["Idempotent-Replayed"] == "true"
    assert (again.status_code, again.content) == (201, first.content)
    assert WebhookEndpoint.objects.count() == 1
    stored = bytes(StoredResponse.objects.get().body)
    assert not re.search(rb"whsec|router", stored)
    path = f"{PATH}/{json_of(first)['data']['webhook_endpoint']['id']}/rotate"
    rotated = caller.client.post(path, {}, **{"Idempotency-Key": "two"})
    repeated = caller.client.post(path, {}, **{"Idempotency-Key": "two"})
    assert repeated.content == rotated.content
    assert not any(b"whsec" in bytes(row.body) for row in StoredResponse.objects.all())


def test_the_audit_log_names_the_key(caller: Caller) -> None:
    endpoint_id = caller.id()
    caller.change(endpoint_id, enabled=False)
    caller.client.post(f"{PATH}/{endpoint_id}/rotate")
    caller.client.delete(f"{PATH}/{endpoint_id}")
    rows = AuditEntry.objects.filter(action__startswith="endpoint").order_by("created_at", "id")
    assert [row.action for row in rows] == [
        "endpoint.created",
        "endpoint.off",
        "endpoint.rotated",
        "endpoint.deleted",
    ]
    assert all(row.key_id for row in rows)
    assert {row.subject for row in rows} == {"https://***@router.example:8443/hook?x=1"}


def call(caller: Caller, what: str, endpoint_id: str) -> Any:
    path = f"{PATH}/{endpoint_id}"
    moved = {"url": "https://other.example/"}
    calls: dict[str, Callable[[], Any]] = {
        "update": lambda: caller.client.put(path, moved),
        "rotate": lambda: caller.client.post(f"{path}/rotate", {}),
        "delete": lambda: caller.client.delete(path),
    }
    return calls[what]()


@pytest.mark.parametrize("what", ["update", "rotate", "delete"])
def test_a_key_that_is_revoked_meanwhile_changes_nothing(
    caller: Caller, owner: User, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    endpoint_id = caller.id()
    before = WebhookEndpoint.objects.values().get()
    find = webhook_endpoints.find_endpoint

    def revoke_then_find(*given: Any) -> WebhookEndpoint:
        set_key_state(key=ApiKey.objects.get(user=owner, name="plenty"), state=ApiKey.State.REVOKED)
        return find(*given)

    monkeypatch.setattr(webhook_endpoints, "find_endpoint", revoke_then_find)
    says(call(caller, what, endpoint_id), 401, "API key is inactive")
    assert WebhookEndpoint.objects.values().get() == before


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("what", ["update", "rotate", "delete"])
def test_a_revocation_waits_for_the_change_under_way(
    caller: Caller, owner: User, what: str
) -> None:
    endpoint_id = caller.id()
    key = ApiKey.objects.get(user=owner, name="plenty")
    with transaction.atomic():
        WebhookEndpoint.objects.select_for_update().get(pk=endpoint_id)
        changing, answers = begin(lambda: call(caller, what, endpoint_id).status_code)
        wait_until(lambda: waiting_for_locks() == 1)
        revoking, ended = begin(lambda: set_key_state(key=key, state=ApiKey.State.REVOKED))
        wait_until(lambda: waiting_for_locks() == 2)
        assert not ended
    changing.join()
    revoking.join()
    assert answers == [200]
    assert ended


def test_an_email_tells_where_a_change_came_from(
    caller: Caller, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        endpoint_id = caller.id()
        call(caller, "update", endpoint_id)
        call(caller, "rotate", endpoint_id)
    assert len(mail.outbox) == 3
    for email in mail.outbox:
        assert "IP address: 127.0.0.1" in str(email.body)
        assert "the operator of this service" not in str(email.body)
