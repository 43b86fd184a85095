"""Actions on deliveries: resend one, resend all dead ones, send a test event."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db.models.functions import Now

from accounts import secret_services, vault
from accounts.models import User
from outbox.dispatcher import Dispatcher
from tests.webhooks.conftest import Emit, answered, claim, deliver_here, end, fresh, make_due
from tests.webhooks.receivers import Receiver, Reply, dead_url
from tests.webhooks.test_signatures import plain_header_matches, standard_webhooks_match
from webhooks import services
from webhooks.models import Circuit, Delivery

pytestmark = pytest.mark.django_db
COMMITTED = pytest.mark.django_db(transaction=True)  # where threads look
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def kill(delivery: Delivery) -> None:
    Delivery.objects.filter(pk=delivery.pk).update(state="dead", failed_attempts=12)


@COMMITTED
def test_a_dead_one_is_sent_again_with_its_id_and_bytes_and_a_fresh_schedule(
    receiver: Receiver, dispatcher: Dispatcher[Any], emit_to: Emit
) -> None:
    receiver.respond = lambda _: Reply(410)
    (delivery,) = emit_to(receiver.url)
    dispatcher.run_due()
    assert fresh(delivery).state == "dead"

    receiver.respond = lambda _: Reply(500)
    services.resend(account_id=delivery.account_id, delivery_id=delivery.pk)
    assert dispatcher.run_due() == 1
    assert (fresh(delivery).state, fresh(delivery).failed_attempts) == ("waiting", 1)

    receiver.respond = lambda _: Reply(204)
    make_due(delivery)
    assert dispatcher.run_due() == 1
    assert fresh(delivery).state == "delivered"
    assert {(got.webhook_id, got.body) for got in receiver.got} == {
        (delivery.pk, bytes(delivery.body))
    }
    manual = delivery.attempts.order_by("started_at").values_list("is_manual", flat=True)
    assert list(manual) == [False, True, False]


@COMMITTED
def test_a_delivered_one_is_sent_again(
    receiver: Receiver, dispatcher: Dispatcher[Any], emit_to: Emit
) -> None:
    (delivery,) = emit_to(receiver.url)
    dispatcher.run_due()
    services.resend(account_id=delivery.account_id, delivery_id=delivery.pk)
    assert (fresh(delivery).state, fresh(delivery).delivered_at) == ("waiting", None)
    assert dispatcher.run_due() == 1
    assert fresh(delivery).state == "delivered"
    assert len(receiver.got) == 2


@COMMITTED
def test_one_that_waits_need_not_wait_any_longer(
    receiver: Receiver, dispatcher: Dispatcher[Any], emit_to: Emit
) -> None:
    receiver.respond = lambda _: Reply(500)
    (delivery,) = emit_to(receiver.url)
    dispatcher.run_due()
    assert dispatcher.run_due() == 0
    services.resend(account_id=delivery.account_id, delivery_id=delivery.pk)
    assert dispatcher.run_due() == 1


def test_one_that_is_under_way_is_left_alone(emit_to: Emit) -> None:
    (delivery,) = emit_to("http://receiver.example/")
    (item,) = claim(1)
    with pytest.raises(services.NotResendable):
        services.resend(account_id=delivery.account_id, delivery_id=delivery.pk)
    assert fresh(delivery).claim_id == item.claim_id
    assert end(item, answered(204))


def test_nobody_elses_delivery_is_there(emit_to: Emit, outsider: User) -> None:
    (delivery,) = emit_to("http://receiver.example/")
    kill(delivery)
    for delivery_id in (delivery.pk, "0" * 24):
        with pytest.raises(Delivery.DoesNotExist):
            services.resend(account_id=outsider.pk, delivery_id=delivery_id)
    long_ago = datetime(2000, 1, 1, tzinfo=UTC)
    assert services.resend_dead(account_id=outsider.pk, since=long_ago) == 0
    assert fresh(delivery).state == "dead"


@COMMITTED
def test_all_the_dead_since_a_moment(
    emit_to: Emit, member: User, dispatcher: Dispatcher[Any]
) -> None:
    old, dead, gone, waiting = emit_to("http://receiver.example/", count=4)
    (theirs,) = emit_to("http://receiver.example/", member)
    for delivery in (old, dead, gone, theirs):
        kill(delivery)
    Delivery.objects.filter(pk=old.pk).update(created_at=Now() - timedelta(days=2))
    since = fresh(dead).created_at - timedelta(hours=1)
    assert services.resend_dead(account_id=dead.account_id, since=since) == 2
    states = {delivery.pk: fresh(delivery).state for delivery in (old, dead, gone, waiting, theirs)}
    assert states == {
        old.pk: "dead", dead.pk: "waiting", gone.pk: "waiting",
        waiting.pk: "waiting", theirs.pk: "dead",
    }  # fmt: skip
    assert fresh(dead).failed_attempts == 0
    assert services.resend_dead(account_id=dead.account_id, since=since) == 0


def test_event(account: User, url: str) -> Delivery:
    """A test event after its attempt."""
    delivery = services.request_test(account_id=account.pk, url=url, now=NOW)
    assert deliver_here() == 1
    return fresh(delivery)


test_event.__test__ = False  # type: ignore[attr-defined]


def test_a_test_event_says_what_came_back(receiver: Receiver, owner: User) -> None:
    receiver.respond = lambda _: Reply(202, {"X-Who": "me"}, b"thanks")
    delivery = test_event(owner, receiver.url)
    assert (delivery.state, delivery.event, delivery.is_manual) == (
        "delivered", "webhook.test", False,
    )  # fmt: skip
    (got,) = receiver.got
    assert got.webhook_id == delivery.pk
    assert json.loads(got.body) == {
        "event": "webhook.test",
        "timestamp": "2026-03-01T12:00:00.000Z",
        "data": {},
    }
    secret = secret_services.read_secrets(owner.pk).current.text
    assert plain_header_matches(got, secret)
    assert standard_webhooks_match(got, secret)
    attempt = delivery.attempts.get()
    assert (attempt.status_code, attempt.is_manual) == (202, True)
    assert bytes(attempt.response_body or b"") == b"thanks"


@pytest.mark.parametrize("status", [500, 410, 302])
@COMMITTED
def test_a_test_event_is_never_tried_again(receiver: Receiver, owner: User, status: int) -> None:
    receiver.respond = lambda _: Reply(status, {"Retry-After": "1"})
    delivery = services.request_test(account_id=owner.pk, url=receiver.url, now=NOW)
    assert deliver_here() == 1
    assert (fresh(delivery).state, delivery.attempts.get().status_code) == ("dead", status)
    make_due(delivery)
    assert deliver_here() == 0
    assert len(receiver.got) == 1


def test_a_test_event_is_not_sent_again(receiver: Receiver, owner: User) -> None:
    receiver.respond = lambda _: Reply(500)
    delivery = test_event(owner, receiver.url)
    with pytest.raises(services.OnlyOnce):
        services.resend(account_id=owner.pk, delivery_id=delivery.pk)
    long_ago = datetime(2000, 1, 1, tzinfo=UTC)
    assert services.resend_dead(account_id=owner.pk, since=long_ago) == 0
    assert fresh(delivery).state == "dead"


def test_pauses_are_those_of_the_account_that_last(owner: User, member: User) -> None:
    for account, host, minutes in ((owner, "a", 1), (owner, "b", -1), (member, "c", 1)):
        until = Now() + timedelta(minutes=minutes)
        Circuit.objects.create(account=account, host=host, failures=5, open_until=until)
    Circuit.objects.create(account=owner, host="d", failures=4)
    assert list(services.pauses(owner.pk)) == ["a"]


@pytest.mark.parametrize("url", [None, "http://169.254.169.254/", "https://[::1]:1/"])
def test_a_test_event_to_nowhere_says_why(owner: User, url: str | None) -> None:
    delivery = test_event(owner, url or dead_url())
    assert delivery.state == "dead"
    assert delivery.attempts.get().error


def test_a_test_event_without_a_readable_secret_leaves_no_trace(owner: User) -> None:
    secret_services.read_secrets(owner.pk)
    sealed = vault.seal("x")[:-1]
    owner.webhook_secret.__class__.objects.filter(pk=owner.pk).update(sealed=sealed)
    with pytest.raises(vault.Unreadable):
        services.request_test(account_id=owner.pk, url="http://receiver.example/", now=NOW)
    assert not Delivery.objects.exists()
