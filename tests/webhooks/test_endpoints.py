"""Webhook endpoints: who gets which event, signed by whom, and until when."""

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol

import pytest
from cryptography.fernet import Fernet
from django.core import mail
from django.core.management import call_command
from django.db import IntegrityError, OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings
from standardwebhooks import Webhook, WebhookVerificationError

from accounts import endpoint_services, proofs, secret_services
from accounts.endpoint_services import KeyEnded, TooManyEndpoints
from accounts.models import ApiKey, AuditEntry, User, WebhookEndpoint
from accounts.secret_services import RotationUnderWay
from accounts.services import create_api_key
from db.ids import owned_id
from loops.models import Loop
from loops.services import create_loop
from outbox.dispatcher import Dispatcher
from reviews import erasing, retention, services, tasks
from reviews.models import Request
from reviews.policy import parse
from reviews.services import CannotReplace
from tests.reviews.conftest import FIELDS, Make, acting, make, make_overdue
from tests.waiting import wait_until
from tests.webhooks.conftest import claim, deliver_here, fresh
from tests.webhooks.receivers import Received, Receiver, dead_url
from webhooks import endpoints
from webhooks.channel import TEST, WEBHOOK
from webhooks.endpoints import NotPublic
from webhooks.models import Circuit, Delivery, FailingHost, LoggedEvent
from webhooks.services import request_test

pytestmark = pytest.mark.django_db(transaction=True)
__all__ = ["make"]  # a fixture
ALL = ["request.created", "request.claimed", "request.completed", "request.timeout",
       "request.cancelled"]  # fmt: skip
HOOK = "https://receiver.example/hook"
OFF = "The endpoint is disabled or deleted."


class Add(Protocol):
    def __call__(self, url: str = ..., **fields: Any) -> WebhookEndpoint: ...


@pytest.fixture
def add(owner: User) -> Add:
    """`add(url, **fields)` is a new endpoint of the owner, for all events of all loops."""

    def create(url: str = HOOK, **fields: Any) -> WebhookEndpoint:
        chosen = {"events": ALL, "loop_ids": None, **fields}
        return endpoints.create_endpoint(account=owner, url=url, **chosen)[0]

    return create


def sent_to(endpoint: WebhookEndpoint) -> list[str]:
    """The events that were enqueued for an endpoint, in their order."""
    rows = Delivery.objects.filter(endpoint_id=endpoint.pk).order_by("created_at", "pk")
    return list(rows.values_list("event", flat=True))


def secret_of(endpoint: WebhookEndpoint) -> str:
    secrets = endpoint_services.read_secrets(endpoint.pk, account_id=endpoint.account_id)
    assert secrets is not None
    return secrets.current.text


def verify(got: Received, secret: str) -> Any:
    return Webhook(secret).verify(got.body, dict(got.headers))


def has_got(receiver: Receiver, path: str) -> bool:
    return any(got.path == path for got in receiver.got)


def in_thread(work: Callable[[], Any]) -> threading.Thread:
    def run() -> None:
        try:
            work()
        finally:
            connection.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def test_an_endpoint_gets_the_events_that_it_chose(add: Add, make: Make, member: User) -> None:
    everything, ends = add(), add(events=["request.completed", "request.timeout"])
    asked, late, dropped = make(), make(), make()
    services.claim_request(request=asked, reviewer_id=member.pk)
    services.answer_request(request=asked, reviewer_id=member.pk, answer="yes")
    make_overdue(late)
    tasks.settle_overdue()
    services.cancel_request(request_id=dropped.pk, account_id=dropped.creator_id)
    created = ["request.created"]
    assert sorted(sent_to(everything)) == sorted([*ALL, *created, *created])
    assert sorted(sent_to(ends)) == ["request.completed", "request.timeout"]


def test_the_event_of_a_creation_says_what_was_asked(add: Add, make: Make) -> None:
    add(events=["request.created"])
    asked = make(callback_url="https://user:pw@receiver.example/mine", metadata={"order": "4821"})
    (row,) = Delivery.objects.all()
    body = json.loads(bytes(row.body))
    assert (body["event"], body["status"]) == ("request.created", "pending")
    assert (body["request_id"], body["loop_id"]) == (asked.pk, asked.loop_id)
    assert body["timestamp"] == body["created_at"]
    assert body["completed_at"] is body["response_data"] is body["data"]["reviewer"] is None
    shown = body["data"]["request"]
    assert (shown["request_text"], shown["metadata"]) == (asked.request_text, {"order": "4821"})
    assert shown["callback_url"] == "https://***@receiver.example/mine"
    assert row.occurrence == f"{asked.pk}:created/1"


def test_the_url_of_a_request_gets_what_it_always_got(add: Add, make: Make, member: User) -> None:
    add()
    asked = make(callback_url="https://receiver.example/mine")
    services.answer_request(request=asked, reviewer_id=member.pk, answer="yes")
    (own,) = Delivery.objects.filter(endpoint=None)
    assert (own.event, own.occurrence) == ("request.completed", f"{asked.pk}:end")
    logged = LoggedEvent.objects.get()  # a stream gets no event that it does not know
    assert (logged.pk, logged.name, logged.body) == (own.pk, "request.completed", None)
    ids = Delivery.objects.values_list("pk", flat=True)
    assert len(set(ids)) == 3  # one for the URL, two for the endpoint


def test_only_chosen_loops_count(add: Add, make: Make, loop: Loop, owner: User) -> None:
    other = create_loop(owner_id=owner.pk, name="Other", icon="bell")
    mine, others, every = add(loop_ids=[loop.pk]), add(loop_ids=[other.pk]), add()
    make()
    assert [len(sent_to(each)) for each in (mine, others, every)] == [1, 0, 1]


def test_a_loop_that_is_deleted_sends_its_last_events_and_never_becomes_all(
    add: Add, make: Make, loop: Loop, owner: User
) -> None:
    endpoint = add(loop_ids=[loop.pk], events=["request.cancelled"])
    make()
    services.delete_loop(loop_id=loop.pk, account_id=owner.pk)
    assert sent_to(endpoint) == ["request.cancelled"]
    other = create_loop(owner_id=owner.pk, name="Other", icon="bell")
    request = services.create_request(loop_id=other.pk, account=acting(owner), fields=FIELDS)
    services.cancel_request(request_id=request.pk, account_id=owner.pk)
    assert sent_to(endpoint) == ["request.cancelled"]


def test_other_accounts_get_nothing(add: Add, make: Make, outsider: User) -> None:
    theirs, _ = endpoints.create_endpoint(account=outsider, url=HOOK, events=ALL, loop_ids=None)
    make()
    assert sent_to(theirs) == []


def test_five_endpoints_and_no_match_cost_no_statement(add: Add, loop: Loop, owner: User) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            services.create_request(loop_id=loop.pk, account=acting(owner), fields=FIELDS)
        return len(queries)

    assert count() == 1
    other = create_loop(owner_id=owner.pk, name="Other", icon="bell")
    add(events=["request.completed"])
    add(is_on=False)
    for _ in range(3):
        add(loop_ids=[other.pk])
    assert count() == 1
    WebhookEndpoint.objects.filter(slot=3).update(loop_ids=None)
    assert count() <= 8  # BEGIN, the savepoints, names around, targets, deliveries
    assert Delivery.objects.count() == 1


def test_no_request_is_created_without_its_event(add: Add, make: Make) -> None:
    def fail(execute: Any, sql: str, *others: Any) -> Any:
        if "INSERT INTO webhooks_delivery" in sql:
            raise OperationalError("the server has gone")
        return execute(sql, *others)

    add(events=["request.created"])
    with connection.execute_wrapper(fail), pytest.raises(OperationalError):
        make()
    assert not Request.objects.exists()


def test_a_request_that_is_refused_makes_no_event(add: Add, make: Make, loop: Loop) -> None:
    endpoint = add()
    first = make()
    with pytest.raises(IntegrityError), transaction.atomic():
        services.create_request(
            loop_id=loop.pk, account=acting(first.creator), fields=FIELDS, request_id=first.pk
        )
    with pytest.raises(CannotReplace):
        make(replaces=owned_id(loop.creator_id))
    assert sent_to(endpoint) == ["request.created"]


def test_a_newer_version_is_an_event_and_so_is_the_end_of_the_older(add: Add, make: Make) -> None:
    endpoint = add()
    older = make()
    make(replaces=older.pk)
    happened = ["request.created", "request.cancelled", "request.created"]
    assert sorted(sent_to(endpoint)) == sorted(happened)


@pytest.mark.parametrize(
    "policy",
    [None, parse({"answers": 2, "rule": "majority"}).store()],
    ids=["no policy", "the loop's policy"],
)
def test_a_loop_with_a_policy_sends_the_event_too(
    add: Add, make: Make, loop: Loop, policy: Any
) -> None:
    Loop.objects.filter(pk=loop.pk).update(policy=policy)
    endpoint = add()
    make()
    assert sent_to(endpoint) == ["request.created"]


def test_each_receiver_is_signed_for_with_its_own_secret(
    add: Add, make: Make, receiver: Receiver, owner: User
) -> None:
    one, two = add(f"{receiver.url}/1"), add(f"{receiver.url}/2")
    asked = make(callback_url=f"{receiver.url}/0")
    services.cancel_request(request_id=asked.pk, account_id=owner.pk)
    while deliver_here():  # four at a time
        pass
    secrets = {
        "/hook/0": secret_services.read_secrets(owner.pk).current.text,
        "/hook/1": secret_of(one),
        "/hook/2": secret_of(two),
    }
    assert {got.path for got in receiver.got} == secrets.keys()
    for got in receiver.got:
        for path, secret in secrets.items():
            if path == got.path:
                assert verify(got, secret)["request_id"] == asked.pk
            else:
                with pytest.raises(WebhookVerificationError):
                    verify(got, secret)


def test_both_secrets_sign_during_a_rotation_also_of_what_is_claimed(
    add: Add, make: Make, receiver: Receiver
) -> None:
    endpoint = add(receiver.url, events=["request.created"])
    old = secret_of(endpoint)
    make()
    items = claim(10)  # before the rotation
    new = endpoint_services.rotate(endpoint=endpoint).text
    with pytest.raises(RotationUnderWay):
        endpoint_services.rotate(endpoint=endpoint)
    assert WEBHOOK.send(items[0], threading.Event()).error == ""
    (got,) = receiver.got
    assert verify(got, old)
    assert verify(got, new)
    endpoint_services.end_rotation(endpoint=endpoint)
    make()
    deliver_here()
    assert verify(receiver.got[-1], new)
    with pytest.raises(WebhookVerificationError):
        verify(receiver.got[-1], old)


@pytest.mark.parametrize("ending", ["disabled", "deleted"])
def test_nothing_begins_after_the_end_of_an_endpoint(
    add: Add,
    make: Make,
    receiver: Receiver,
    dispatcher: Dispatcher[Any],
    settings: Settings,
    ending: str,
) -> None:
    """Some attempts are under way, and others wait in the process that has claimed them."""
    settings.WEBHOOK_PER_HOST = 8  # more than an account has threads here
    endpoint = add(receiver.url, events=["request.created"])
    for _ in range(12):
        make()
    receiver.free.clear()
    thread = in_thread(dispatcher.run_due)
    wait_until(lambda: receiver.at_once == 4)  # half of the threads
    claimed = Delivery.objects.filter(claim_id__isnull=False).count()
    assert claimed > 4
    if ending == "deleted":
        endpoints.delete_endpoint(endpoint=endpoint)
    else:
        endpoints.update_endpoint(endpoint=endpoint, changes={"is_on": False})
    begun = len(receiver.got)
    receiver.free.set()
    thread.join(30)
    assert not thread.is_alive()
    dispatcher.run_due()
    assert len(receiver.got) == begun
    states = Delivery.objects.values_list("state", flat=True)
    assert sorted(states) == ["dead"] * (12 - begun) + ["delivered"] * begun
    assert not FailingHost.objects.exists()
    assert not Circuit.objects.exists()


def test_what_was_claimed_before_the_end_is_dead_and_says_why(
    add: Add, make: Make, receiver: Receiver
) -> None:
    endpoint = add(receiver.url, events=["request.created"])
    make()
    (item,) = claim(10)
    endpoints.delete_endpoint(endpoint=endpoint)
    outcome = WEBHOOK.send(item, threading.Event())
    assert (outcome.error, receiver.got) == (OFF, [])


def test_an_event_that_is_written_while_its_endpoint_is_deleted_is_not_sent(
    add: Add, make: Make, receiver: Receiver, loop: Loop, owner: User
) -> None:
    endpoint = add(receiver.url, events=["request.created"])
    with transaction.atomic():
        services.create_request(loop_id=loop.pk, account=acting(owner), fields=FIELDS)
        # on a connection of its own, before this transaction ends
        in_thread(lambda: endpoints.delete_endpoint(endpoint=endpoint)).join(30)
        assert not WebhookEndpoint.objects.exists()
    row = Delivery.objects.get()
    assert row.state == "waiting"
    assert deliver_here() == 1
    assert receiver.got == []
    assert (fresh(row).state, row.attempts.get().error) == ("dead", OFF)


def test_endpoints_that_end_while_requests_are_created(
    add: Add, make: Make, receiver: Receiver, dispatcher: Dispatcher[Any]
) -> None:
    """The receiver gets nothing that was created after the end."""
    chosen = [add(f"{receiver.url}/{place}", events=["request.created"]) for place in range(5)]
    stopping = threading.Event()

    def create() -> None:
        while not stopping.is_set():
            make()
            dispatcher.run_due()

    thread = in_thread(create)
    for place, endpoint in enumerate(chosen):
        wait_until(partial(has_got, receiver, f"/hook/{place}"))
        if place % 2:
            endpoints.delete_endpoint(endpoint=endpoint)
        else:
            endpoints.update_endpoint(endpoint=endpoint, changes={"is_on": False})
    stopping.set()
    thread.join(60)
    assert not thread.is_alive()
    last = make()
    dispatcher.run_due()
    assert not any(last.pk.encode() in got.body for got in receiver.got)
    assert not Delivery.objects.filter(state="waiting").exists()


def test_switched_on_again_it_gets_what_happens_from_then_on(
    add: Add, make: Make, receiver: Receiver
) -> None:
    endpoint = add(receiver.url, is_on=False, events=["request.created"])
    make()
    endpoints.update_endpoint(endpoint=endpoint, changes={"is_on": True})
    asked = make()
    deliver_here()
    (got,) = receiver.got
    assert asked.pk.encode() in got.body


def test_a_test_event_goes_to_the_endpoint_with_its_secret(
    add: Add, receiver: Receiver, owner: User, settings: Settings
) -> None:
    endpoint = add(receiver.url)
    now = endpoint.created_at
    request_test(account_id=owner.pk, url=endpoint.url, now=now, endpoint=endpoint)
    deliver_here()
    assert verify(receiver.got[0], secret_of(endpoint))["event"] == "webhook.test"
    request_test(account_id=owner.pk, url=endpoint.url, now=now, endpoint=endpoint)
    (item,) = claim(10, channel=TEST)
    endpoints.update_endpoint(endpoint=endpoint, changes={"is_on": False})
    assert TEST.send(item, threading.Event()).error == OFF


def test_a_failing_endpoint_is_a_failing_host(add: Add, make: Make) -> None:
    add(dead_url(), events=["request.created"])
    make()
    deliver_here()
    assert FailingHost.objects.get().failures == 1


@pytest.mark.parametrize(
    "url",
    ["http://10.1.2.3/", "http://127.0.0.1:9/", "http://169.254.169.254/latest", "http://[::1]/",
     "https://user:pw@192.168.0.1/"],
)  # fmt: skip
def test_a_closed_address_is_refused(add: Add, settings: Settings, url: str) -> None:
    settings.WEBHOOK_OPEN_NETWORKS = []
    with pytest.raises(NotPublic):
        add(url)
    endpoint = add()
    with pytest.raises(NotPublic):
        endpoints.update_endpoint(endpoint=endpoint, changes={"url": url})
    endpoint.refresh_from_db()
    assert endpoint.url == HOOK


def test_a_name_that_stands_for_a_closed_address_gets_nothing(
    add: Add, make: Make, settings: Settings
) -> None:
    settings.WEBHOOK_OPEN_NETWORKS = []
    add("http://localhost:9/", events=["request.created"])
    make()
    deliver_here()
    assert "is not a public address." in Delivery.objects.get().attempts.get().error


def test_five_are_the_most_also_when_two_come_at_once(add: Add) -> None:
    for _ in range(4):
        add()

    def try_it(_: int) -> str:
        try:
            add()
        except TooManyEndpoints:
            return "refused"
        finally:
            connection.close()
        return "made"

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(try_it, range(4))) == ["made"] + ["refused"] * 3
    assert sorted(WebhookEndpoint.objects.values_list("slot", flat=True)) == [1, 2, 3, 4, 5]


def test_the_place_of_a_deleted_one_is_free_again(add: Add, make: Make) -> None:
    made = [add(events=["request.created"]) for _ in range(5)]
    make()
    endpoints.delete_endpoint(endpoint=made[2])
    again = add(events=["request.created"])
    assert again.slot == 3
    make()
    assert len(sent_to(again)) == 1
    assert Delivery.objects.filter(endpoint_id=made[2].pk, state="dead").count() == 1


def test_a_key_that_was_revoked_meanwhile_makes_none(add: Add, owner: User) -> None:
    key, _ = create_api_key(user=owner, name="key", permissions=["loops:write"])
    ApiKey.objects.filter(pk=key.pk).update(state="revoked")
    with pytest.raises(KeyEnded):
        add(key_id=key.pk)


def test_the_audit_log_and_the_holder_hear_of_it(add: Add, owner: User) -> None:
    endpoint = add("https://user:pw@receiver.example/hook")
    endpoints.update_endpoint(endpoint=endpoint, changes={"is_on": False, "events": ALL[:1]})
    endpoints.update_endpoint(endpoint=endpoint, changes={"is_on": True})
    endpoints.update_endpoint(endpoint=endpoint, changes={"url": "https://other.example/"})
    endpoint_services.rotate(endpoint=endpoint)
    endpoint_services.end_rotation(endpoint=endpoint)
    endpoints.delete_endpoint(endpoint=endpoint)
    said = AuditEntry.objects.filter(action__startswith="endpoint.").order_by("created_at", "id")
    assert list(said.values_list("action", "subject")) == [
        ("endpoint.created", "https://***@receiver.example/hook"),
        ("endpoint.edited", "https://***@receiver.example/hook"),
        ("endpoint.off", "https://***@receiver.example/hook"),
        ("endpoint.on", "https://***@receiver.example/hook"),
        ("endpoint.edited", "https://other.example/"),
        ("endpoint.rotated", "https://other.example/"),
        ("endpoint.rotation_ended", "https://other.example/"),
        ("endpoint.deleted", "https://other.example/"),
    ]
    subjects = [str(each.subject) for each in mail.outbox]
    assert len(subjects) == 3
    assert "A webhook endpoint was created" in subjects[0]
    assert "The URL of a webhook endpoint was changed" in subjects[1]
    assert "The secret of a webhook endpoint was rotated" in subjects[2]
    assert not any("pw@" in str(each.body) for each in mail.outbox)


def test_securing_an_account_deletes_its_endpoints(
    add: Add, make: Make, receiver: Receiver, owner: User
) -> None:
    add(receiver.url, events=["request.created"])
    make()
    with transaction.atomic():
        said = proofs.secure_account(owner, owner.email, None, keep_password=False)
    assert "the webhook endpoints were deleted" in said
    deliver_here()
    assert receiver.got == []


def test_erasing_an_account_ends_its_endpoints(
    add: Add, make: Make, receiver: Receiver, owner: User
) -> None:
    add(receiver.url, events=["request.created"])
    make()
    erasing.begin(person=owner)
    deliver_here()
    assert (receiver.got, WebhookEndpoint.objects.count()) == ([], 0)
    assert erasing.finish(owner.pk, until=float("inf"))
    assert not Delivery.objects.exists()


def test_deliveries_to_endpoints_go_with_their_request(
    add: Add, make: Make, receiver: Receiver, owner: User, member: User
) -> None:
    for _ in range(5):
        add(receiver.url)
    asked = make(callback_url=receiver.url)
    services.claim_request(request=asked, reviewer_id=member.pk)
    services.answer_request(request=asked, reviewer_id=member.pk, answer="yes")
    assert Delivery.objects.count() == 17
    found = list(Request.objects.filter(pk=asked.pk).values_list("pk", "claim_count"))
    with transaction.atomic():
        retention.remove_requests(owner.pk, found, waiting=True)
    assert not Delivery.objects.exists()
    assert not Request.objects.exists()


def test_a_request_stays_while_a_delivery_to_an_endpoint_waits(
    add: Add, make: Make, loop: Loop, member: User
) -> None:
    add(events=["request.created"])
    asked = make()
    services.answer_request(request=asked, reviewer_id=member.pk, answer="yes")
    Loop.objects.filter(pk=loop.pk).update(keep_requests_days=4)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE reviews_request SET created_at = created_at - interval '9 days',"
            " updated_at = updated_at - interval '9 days',"
            " response_at = response_at - interval '9 days'"
        )
    retention.prune(until=float("inf"))
    assert Request.objects.exists()
    Delivery.objects.update(state="dead")
    retention.prune(until=float("inf"))
    assert not Request.objects.exists()


def test_the_database_refuses_half_a_previous_secret(add: Add) -> None:
    endpoint = add()
    with pytest.raises(IntegrityError), transaction.atomic():
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(previous_sealed=b"x")
    with pytest.raises(IntegrityError), transaction.atomic():
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(slot=6)


def test_the_secrets_move_to_a_new_key(add: Add, settings: Settings) -> None:
    endpoint = add()
    endpoint_services.rotate(endpoint=endpoint)
    secret = secret_of(endpoint)
    fresh_key = Fernet.generate_key().decode()
    settings.ENCRYPTION_KEYS = [fresh_key, *settings.ENCRYPTION_KEYS]
    call_command("rotatekeys")
    settings.ENCRYPTION_KEYS = [fresh_key]
    assert secret_of(endpoint) == secret
