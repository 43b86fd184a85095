"""Pushes of a new request, against a push service on loopback that reads what it gets."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now
from django.test import override_settings
from pytest_django import Settings

from accounts.models import User
from db.ids import owned_id
from outbox import recording
from outbox.claiming import claim
from outbox.dispatcher import Dispatcher
from outbox.items import Bounds, Item, Outcome, Result
from reviews import services as review_services
from reviews.models import Notification, PushSubscription, Request
from reviews.notifications import services
from reviews.notifications.push.channel import CHANNEL, DISPATCHER, Push, Verdict
from tests.backends import waiting_for_locks
from tests.reviews.conftest import Make
from tests.reviews.notifications.conftest import GivePhone, device_of
from tests.reviews.notifications.enqueuing import enqueue_for
from tests.reviews.notifications.push_service import PushService, claims
from tests.waiting import wait_until
from tests.webhooks.receivers import dead_url

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def make(make: Make) -> Make:
    """Requests without notifications; `enqueue_for` inserts them and returns the pushes."""

    def make_alone(**changes: Any) -> Request:
        with override_settings(VAPID_PRIVATE_KEY=""):
            request = make(**changes)
        Notification.objects.filter(request=request).delete()
        return request

    return make_alone


REJECTED = Outcome(Result.FAILED, "x", details=Verdict("rejected"))


def send(pushes: list[Item[Push]], *, sender: Dispatcher[Push] = DISPATCHER) -> int:
    """How many of the pushes were accepted, once all are over and recorded."""
    ids = [pk for item in pushes for pk in item.ids]
    sender.send_now(pushes)
    sender.settle()
    return int(Notification.objects.filter(pk__in=ids, state="sent").count())


def states(request: Request) -> list[tuple[str, str]]:
    rows = Notification.objects.filter(request=request)
    rows = rows.order_by("created_at", "-channel", "recipient_id")
    return list(rows.values_list("channel", "state"))


def sent(request: Request) -> int:
    return int(Request.objects.values_list("notifications_sent", flat=True).get(pk=request.pk))


def make_due(request: Request) -> None:
    Notification.objects.filter(request=request, state="waiting").update(next_attempt_at=Now())


def test_every_device_is_told(
    make: Make,
    give_phone: GivePhone,
    owner: User,
    member: User,
    service: PushService,
    push_key: str,
) -> None:
    phones = [give_phone(owner), give_phone(member), give_phone(member)]
    request = make(priority="critical")
    assert send(enqueue_for(request)) == 3
    assert sent(request) == 3
    assert states(request) == [("push", "sent")] * 3
    by_path = {received.path: received for received in service.got}
    for phone in phones:
        received = by_path["/push/" + phone.endpoint.rpartition("/")[2]]
        assert phone.read(received)["notification"]["navigate"].endswith(f"/inbox/{request.pk}/")
        assert claims(received, push_key)["aud"] == f"http://127.0.0.1:{service.receiver.port}"
        assert received.headers["urgency"] == "high"
        assert received.headers["topic"] == request.pk
        assert 590 <= int(received.headers["ttl"]) <= 600
        assert device_of(phone).last_used_at is not None


def test_what_ended_is_removed_and_mailed_instead(
    make: Make, give_phone: GivePhone, owner: User, member: User, service: PushService
) -> None:
    owners, members = give_phone(owner), give_phone(member)
    service.answer(members, 410)
    request = make()
    assert send(enqueue_for(request)) == 1
    assert PushSubscription.objects.get().endpoint == owners.endpoint
    assert states(request) == [("push", "sent"), ("push", "dropped"), ("mail", "waiting")]
    assert Notification.objects.get(channel="mail").recipient_id == member.pk


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_passes_is_tried_again(
    make: Make, give_phone: GivePhone, member: User, owner: User, service: PushService, status: int
) -> None:
    phone = give_phone(member)
    services.choose_mails(user_id=owner.pk, mails="none")
    service.answer(phone, status, **{"Retry-After": "99"})
    request = make()
    assert send(enqueue_for(request)) == 0
    row = Notification.objects.get()
    assert (row.state, row.failed_attempts, row.error) == ("waiting", 1, f"HTTP {status}")
    assert row.claim_id is None
    now = Notification.objects.values_list(Now(), flat=True)[0]
    assert 40 < (row.next_attempt_at - now).total_seconds() <= 99
    service.answer(phone, 201)
    assert DISPATCHER.run_due() == 0
    make_due(request)
    assert DISPATCHER.run_due() == 1
    assert sent(request) == 1
    assert phone.read(service.got[-1])["notification"]["title"] == "Refund desk"


@pytest.mark.parametrize("devices", [1, 2])
def test_no_attempt_after_the_deadline(
    make: Make, give_phone: GivePhone, owner: User, member: User, service: PushService, devices: int
) -> None:
    """An email goes at once instead."""
    services.choose_mails(user_id=owner.pk, mails="none")
    for _ in range(devices):
        service.answer(give_phone(member), 503, **{"Retry-After": "700"})
    request = make(timeout_seconds=600)
    send(enqueue_for(request))
    assert states(request) == [("push", "dropped")] * devices + [("mail", "waiting")]


def test_no_email_about_what_is_answered(
    make: Make, give_phone: GivePhone, owner: User, member: User, service: PushService
) -> None:
    services.choose_mails(user_id=owner.pk, mails="none")
    service.answer(give_phone(member), 403)
    request = make()
    pushes = enqueue_for(request)
    review_services.answer_request(request=request, reviewer_id=owner.pk, answer="yes")
    send(pushes)
    assert states(request) == [("push", "dropped")]


def test_a_device_that_ends_while_pushes_wait_for_it(
    make: Make, give_phone: GivePhone, owner: User, member: User, service: PushService
) -> None:
    services.choose_mails(user_id=owner.pk, mails="none")
    phone = give_phone(member)
    first, second = make(), make()
    pushes = {each: enqueue_for(each) for each in (first, second)}
    service.answer(phone, 503)
    send(pushes[second])
    service.answer(phone, 410)
    send(pushes[first])
    make_due(second)
    assert DISPATCHER.run_due() == 1
    for each in (first, second):
        assert states(each) == [("push", "dropped"), ("mail", "waiting")]
    texts = Notification.objects.filter(channel="push").values_list("error", flat=True)
    assert set(texts) == {"HTTP 410", "The device was removed or turned off."}


@pytest.mark.parametrize("status", [400, 403, 413, 302])
def test_what_is_refused_is_dropped(
    make: Make, give_phone: GivePhone, member: User, service: PushService, status: int
) -> None:
    phone = give_phone(member)
    service.answer(phone, status, Location="/elsewhere")
    request = make()
    send(enqueue_for(request))
    row = Notification.objects.get(channel="push")
    assert (row.state, row.error) == ("dropped", f"HTTP {status}")
    assert PushSubscription.objects.count() == 1
    assert len(service.got) == 1


def test_nobody_waits_for_a_service_that_never_answers(
    make: Make, give_phone: GivePhone, owner: User, member: User, service: PushService
) -> None:
    for _ in range(3):
        give_phone(member)
    request = make()
    service.hold()
    DISPATCHER.send_now(enqueue_for(request))
    wait_until(lambda: len(service.got) == 3)
    assert sent(request) == 0
    service.release()
    wait_until(lambda: sent(request) == 3)


def test_a_process_pushes_on_a_few_threads(
    make: Make, give_phone: GivePhone, member: User, service: PushService
) -> None:
    for _ in range(9):
        give_phone(member)
    sender = Dispatcher(CHANNEL, threads=2)
    assert send(enqueue_for(make()), sender=sender) == 9
    assert service.receiver.most_at_once <= 2
    sender.close()


def test_two_workers_share(
    make: Make, give_phone: GivePhone, member: User, service: PushService
) -> None:
    for _ in range(20):
        give_phone(member)
    request = make()
    enqueue_for(request)
    make_due(request)
    workers = [Dispatcher(CHANNEL, threads=4), Dispatcher(CHANNEL, threads=4)]

    def work(worker: Dispatcher[Push]) -> int:
        try:
            return worker.run_due()
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        assert sum(pool.map(work, workers)) == 20
    for worker in workers:
        worker.close()
    assert len({received.path for received in service.got}) == len(service.got) == 20
    assert sent(request) == 20


def test_what_finds_no_room_goes_to_the_worker_at_once(
    make: Make, give_phone: GivePhone, member: User, service: PushService
) -> None:
    phones = [give_phone(member) for _ in range(5)]
    sender = Dispatcher(CHANNEL, threads=1, room=2)
    request = make()
    service.hold()
    sender.send_now(enqueue_for(request))
    back = Notification.objects.filter(channel="push", state="waiting", claim_id=None)
    wait_until(lambda: back.count() >= 3)
    service.release()
    assert DISPATCHER.run_due() >= 3
    wait_until(lambda: sent(request) == 5)
    sender.close()
    assert len(service.got) == len(phones)


def test_a_killed_process_is_replaced(
    make: Make, give_phone: GivePhone, member: User, service: PushService
) -> None:
    """The rows are there and leased; the process that holds them never comes to it."""
    give_phone(member)
    request = make()
    enqueue_for(request)
    assert DISPATCHER.run_due() == 0
    make_due(request)
    assert DISPATCHER.run_due() == 1
    assert sent(request) == 1


def test_who_lost_the_lease_writes_nothing(
    make: Make, give_phone: GivePhone, member: User, service: PushService
) -> None:
    give_phone(member)
    request = make()
    (late,) = enqueue_for(request)
    make_due(request)
    assert DISPATCHER.run_due() == 1
    for outcome in (
        Outcome(Result.SENT, details=Verdict("accepted")),
        Outcome(Result.RETRY, "x", details=Verdict("retry")),
        REJECTED,
    ):
        assert recording.record(CHANNEL, late, outcome) is None
    recording.give_back(CHANNEL, [late])
    assert sent(request) == 1
    assert states(request)[0] == ("push", "sent")


def test_an_email_takes_the_place_of_all_pushes(
    make: Make, give_phone: GivePhone, owner: User, member: User, service: PushService
) -> None:
    services.choose_mails(user_id=owner.pk, mails="none")
    for phone in (give_phone(member), give_phone(member)):
        service.answer(phone, 403)
    request = make()
    assert send(enqueue_for(request)) == 0
    assert states(request) == [("push", "dropped"), ("push", "dropped"), ("mail", "waiting")]


def test_two_last_pushes_that_fail_at_once_become_one_email(
    make: Make, give_phone: GivePhone, owner: User, member: User, service: PushService
) -> None:
    """Each process sees only its own failure until it is committed."""
    services.choose_mails(user_id=owner.pk, mails="none")
    for _ in range(2):
        give_phone(member)
    request = make()
    one, other = enqueue_for(request)

    def drop_other() -> None:
        try:
            recording.record(CHANNEL, other, REJECTED)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            recording.record(CHANNEL, one, REJECTED)
            late = pool.submit(drop_other)
            wait_until(lambda: late.done() or waiting_for_locks())
        late.result(20)
    assert states(request) == [("push", "dropped"), ("push", "dropped"), ("mail", "waiting")]


@pytest.mark.parametrize(
    ("why", "mails"),
    [("answered", 0), ("moved", 1), ("off", 1), ("removed", 1), ("left", 0)],
)
def test_nobody_is_told_of_what_is_not_theirs_any_more(
    make: Make,
    give_phone: GivePhone,
    member: User,
    owner: User,
    service: PushService,
    why: str,
    mails: int,
) -> None:
    """Who has only lost the device is told by email."""
    services.choose_mails(user_id=owner.pk, mails="none")
    phone = give_phone(member)
    request = make()
    enqueue_for(request)
    device = device_of(phone)
    if why == "answered":
        review_services.answer_request(request=request, reviewer_id=owner.pk, answer="yes")
    elif why == "moved":
        PushSubscription.objects.update(id=owned_id(owner.pk), user=owner)
    elif why == "off":
        services.switch_subscription(subscription=device, is_on=False)
    elif why == "removed":
        services.remove_subscription(subscription=device)
    else:
        review_services.remove_member(
            loop_id=request.loop_id, account_id=request.creator_id, member_id=member.pk
        )
    make_due(request)
    assert DISPATCHER.run_due() == 1
    assert service.got == []
    assert states(request) == [("push", "dropped")] + [("mail", "waiting")] * mails


def test_a_private_endpoint_is_refused(
    make: Make, give_phone: GivePhone, member: User, service: PushService, settings: Settings
) -> None:
    give_phone(member)
    request = make()
    pushes = enqueue_for(request)
    settings.PUSH_OPEN_NETWORKS = ()  # those of webhooks stay open
    assert send(pushes) == 0
    row = Notification.objects.get(channel="push")
    assert (row.state, row.error) == ("dropped", "127.0.0.1 is not a public address.")
    assert service.got == []


def test_a_service_that_is_down_is_tried_again(
    make: Make, give_phone: GivePhone, member: User, service: PushService
) -> None:
    give_phone(member)
    PushSubscription.objects.update(endpoint=dead_url())
    send(enqueue_for(make()))
    row = Notification.objects.get(channel="push")
    assert (row.state, row.failed_attempts) == ("waiting", 1)


def test_without_a_key_nothing_is_pushed(
    make: Make, give_phone: GivePhone, member: User, service: PushService, settings: Settings
) -> None:
    give_phone(member)
    settings.VAPID_PRIVATE_KEY = ""
    request = make()
    assert enqueue_for(request) == []
    assert set(states(request)) == {("mail", "waiting")}


def test_slow_hosts_leave_threads_to_the_others(
    make: Make, give_phone: GivePhone, member: User, service: PushService
) -> None:
    for _ in range(12):
        give_phone(member)
    request = make()
    enqueue_for(request)
    make_due(request)
    assert len(claim(CHANNEL, Bounds(8, 8, 4, 8)).items) == 4
    assert claim(CHANNEL, Bounds(8, 8, 4, 8, full_lanes=["127.0.0.1"])).items == []
