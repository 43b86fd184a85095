"""From the outbox to a receiver and back: the effect of each response (gap 45)."""

import contextlib
import functools
import socket
import threading
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from django.db import IntegrityError
from pytest_django import Settings

from accounts.models import User
from outbox.claiming import Claim
from outbox.dispatcher import Dispatcher
from tests.waiting import wait_until
from tests.webhooks.conftest import Emit, event_of, fresh, make_due, seconds_to_next
from tests.webhooks.receivers import Received, Receiver, Reply, dead_url, misbehaving
from webhooks import outbound
from webhooks.emission import enqueue
from webhooks.models import Attempt, Delivery

pytestmark = pytest.mark.django_db(transaction=True)
PLANNED = [5, 30, 120, 600, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
DAY = 86_400.0


def answer(receiver: Receiver, status: int, **headers: str) -> None:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    receiver.respond = lambda _: Reply(status, named, b"told")


def emit_for_statuses(
    receiver: Receiver, emit_to: Emit, statuses: Iterable[int]
) -> dict[int, Delivery]:
    """A delivery for each status; the receiver answers with what stands in the query."""
    receiver.respond = lambda got: Reply(int(got.path.partition("?")[2]), {"Location": "/"})
    return {status: emit_to(f"{receiver.url}?{status}")[0] for status in statuses}


def test_2xx_is_success(receiver: Receiver, dispatcher: Dispatcher[Any], emit_to: Emit) -> None:
    deliveries = emit_for_statuses(receiver, emit_to, (200, 201, 202, 204, 226, 299))
    assert dispatcher.run_due() == len(deliveries)
    for status, emitted in deliveries.items():
        assert (emitted.state, emitted.delivered_at) == ("waiting", None)
        delivery, attempt = fresh(emitted), emitted.attempts.get()
        assert (delivery.state, delivery.failed_attempts, delivery.claim_id) == (
            "delivered", 0, None,
        )  # fmt: skip
        assert delivery.delivered_at == attempt.finished_at
        assert (attempt.status_code, attempt.error) == (status, "")
    assert dispatcher.run_due() == 0
    assert len(receiver.got) == len(deliveries)


def test_anything_else_is_tried_again(
    receiver: Receiver, dispatcher: Dispatcher[Any], emit_to: Emit
) -> None:
    statuses = (300, 302, 307, 400, 401, 404, 408, 409, 418, 429, 500, 502, 503, 599)
    deliveries = emit_for_statuses(receiver, emit_to, statuses)
    assert dispatcher.run_due() == len(receiver.got) == len(deliveries)
    for status, delivery in deliveries.items():
        assert delivery.attempts.get().status_code == status
        assert (fresh(delivery).state, fresh(delivery).failed_attempts) == ("waiting", 1)
        assert 4 <= seconds_to_next(delivery) <= 6


def test_a_run_goes_on_with_what_waited_for_its_hosts_share(
    receiver: Receiver, dispatcher: Dispatcher[Any], emit_to: Emit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the attempts under way end just after a claim that found every share taken."""
    emit_to(receiver.url, count=6)
    may_end = threading.Event()
    claim = dispatcher._claim

    def respond(_: Received) -> Reply:
        may_end.wait(10)
        return Reply(200)

    def claim_then_let_them_end() -> Claim[Any]:
        claimed = claim()
        if not claimed.rows:
            may_end.set()
            wait_until(dispatcher._is_idle)
        return claimed

    receiver.respond = respond

    monkeypatch.setattr(dispatcher, "_claim", claim_then_let_them_end)
    assert dispatcher.run_due() == len(receiver.got) == 6


def test_what_an_attempt_keeps(
    receiver: Receiver, dispatcher: Dispatcher[Any], emit_to: Emit
) -> None:
    receiver.respond = lambda _: Reply(200, {"X-Told": "Gr\xf6\xdfe"}, b"\x00\xff" * 20_000)
    (delivery,) = emit_to(receiver.url)
    dispatcher.run_due()
    attempt = delivery.attempts.get()
    (got,) = receiver.got
    assert bytes(attempt.response_body or b"") == (b"\x00\xff" * 20_000)[: 16 * 1024]
    assert (attempt.response_headers or {})["X-Told"] == "Gr\xf6\xdfe"
    assert attempt.finished_at is not None
    assert attempt.finished_at >= attempt.started_at
    sent = {name.lower(): value for name, value in (attempt.request_headers or {}).items()}
    assert sent.items() <= dict(got.headers).items()
    assert {"x-service-signature-256", "webhook-id", "content-type"} <= set(sent)
    assert got.body == bytes(delivery.body)
    assert got.headers["content-type"] == "application/json"


def test_the_schedule_from_the_first_failure_to_the_last(
    receiver: Receiver, dispatcher: Dispatcher[Any], emit_to: Emit
) -> None:
    answer(receiver, 500)
    (delivery,) = emit_to(receiver.url)
    for number, planned in enumerate(PLANNED, start=1):
        assert dispatcher.run_due() == 1
        assert fresh(delivery).failed_attempts == number
        assert 0.8 * planned <= seconds_to_next(delivery) <= 1.2 * planned
        make_due(delivery)
    assert dispatcher.run_due() == 1
    assert (fresh(delivery).state, fresh(delivery).failed_attempts) == ("dead", 12)
    make_due(delivery)
    assert dispatcher.run_due() == 0
    assert len(receiver.got) == delivery.attempts.count() == 12


def test_every_attempt_has_the_same_bytes_and_id_and_its_own_time(
    receiver: Receiver, dispatcher: Dispatcher[Any], emit_to: Emit, owner: User
) -> None:
    answer(receiver, 503)
    (delivery,) = emit_to(receiver.url)
    for _ in range(3):
        dispatcher.run_due()
        User.objects.filter(pk=owner.pk).update(name="Renamed meanwhile")
        make_due(delivery)
    assert {got.body for got in receiver.got} == {bytes(delivery.body)}
    assert {got.webhook_id for got in receiver.got} == {delivery.pk}
    for got in receiver.got:
        sent_at = datetime.fromtimestamp(int(got.headers["webhook-timestamp"]), UTC)
        assert abs(datetime.now(UTC) - sent_at) < timedelta(seconds=60)


def test_410_is_the_end(receiver: Receiver, dispatcher: Dispatcher[Any], emit_to: Emit) -> None:
    answer(receiver, 410)
    (delivery,) = emit_to(receiver.url)
    assert dispatcher.run_due() == 1
    assert (fresh(delivery).state, fresh(delivery).failed_attempts) == ("dead", 1)
    assert delivery.attempts.get().status_code == 410


def test_retry_after_is_honoured_up_to_a_day(
    receiver: Receiver, dispatcher: Dispatcher[Any], emit_to: Emit
) -> None:
    def date(**distance: float) -> str:
        return format_datetime(datetime.now(UTC) + timedelta(**distance), usegmt=True)

    asked: list[tuple[int, str, float, float]] = [
        (429, "3600", 3600, 3600),
        (503, "3600", 3600, 3600),
        (429, str(7 * 86_400), DAY, DAY),
        (503, "1", 4, 6),  # never sooner than the schedule
        (503, "soon", 4, 6),
        (429, date(hours=2), 7100, 7200),
        (503, date(hours=2), 7100, 7200),
        (503, date(days=3), DAY, DAY),
        (429, date(days=-1), 4, 6),
    ]

    def respond(got: Received) -> Reply:
        status, header, *_ = asked[int(got.path.partition("?")[2])]
        return Reply(status, {"Retry-After": header})

    receiver.respond = respond
    deliveries = [emit_to(f"{receiver.url}?{number}")[0] for number in range(len(asked))]
    assert dispatcher.run_due() == len(asked)
    for delivery, (status, header, shortest, longest) in zip(deliveries, asked, strict=True):
        wait = seconds_to_next(delivery)
        assert shortest - 0.01 <= wait <= longest + 0.01, (status, header)


def test_the_attempt_is_written_before_the_post(
    receiver: Receiver, dispatcher: Dispatcher[Any], emit_to: Emit
) -> None:
    seen: list[Any] = []

    def look(received: Received) -> Reply:
        attempt = Attempt.objects.get(delivery_id=received.webhook_id)
        seen.append((attempt.finished_at, attempt.delivery.claim_id is not None))
        return Reply(200)

    receiver.respond = look
    emit_to(receiver.url)
    dispatcher.run_due()
    assert seen == [(None, True)]


def test_what_cannot_be_reached_says_why_and_is_tried_again(
    dispatcher: Dispatcher[Any], emit_to: Emit
) -> None:
    errors = {
        dead_url(): "Connection refused",
        "http://10.0.0.1/hook": "10.0.0.1 is not a public address.",
        "http://[::ffff:169.254.169.254]/": "is not a public address.",
        "http://example.com:99999/": "InvalidURL",
    }
    deliveries = [emit_to(url)[0] for url in errors]
    assert dispatcher.run_due() == len(errors)
    for delivery in deliveries:
        attempt = delivery.attempts.get()
        assert errors[delivery.url] in attempt.error
        assert (attempt.status_code, attempt.response_body) == (None, None)
        assert (fresh(delivery).state, fresh(delivery).failed_attempts) == ("waiting", 1)


def test_one_that_never_answers_is_cut(
    receiver: Receiver, dispatcher: Dispatcher[Any], emit_to: Emit, settings: Settings
) -> None:
    settings.WEBHOOK_TIMEOUT_SECONDS = 0.3
    receiver.free.clear()
    (delivery,) = emit_to(receiver.url)
    dispatcher.run_due()
    assert delivery.attempts.get().error == "No complete response within 0.3 s."
    assert fresh(delivery).failed_attempts == 1


UNSPEAKABLE = (
    b"HTTP/1.1 500 no\x00pe\r\nX-Nul: a\x00b\r\nContent-Length: 3\r\n\r\na\x00b",
    b"HTTP/1.1 500 \xff\xfe\r\nX-\xff: \xff\xed\xa0\x80\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 500 x\r\nBroken header\r\n\r\n",
    b"\x00\x00\x00\r\n\r\n",
)


def test_whatever_comes_back_can_be_recorded(dispatcher: Dispatcher[Any], emit_to: Emit) -> None:
    """What could not be would be tried again for ever, at the pace of the lease."""
    with contextlib.ExitStack() as servers:
        for head in UNSPEAKABLE:
            behave = functools.partial(say, head)
            port = servers.enter_context(misbehaving(behave))
            emit_to(f"http://127.0.0.1:{port}/")
        assert dispatcher.run_due() == len(UNSPEAKABLE)
    assert Attempt.objects.filter(finished_at__isnull=False).count() == len(UNSPEAKABLE)
    assert set(Delivery.objects.values_list("failed_attempts", flat=True)) == {1}


def test_an_unforeseen_failure_is_an_attempt_too(
    dispatcher: Dispatcher[Any], emit_to: Emit, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise LookupError("unforeseen")

    monkeypatch.setattr(outbound, "post", broken)
    (delivery,) = emit_to("http://example.com/")
    dispatcher.run_due()
    assert delivery.attempts.get().error == "Internal error: LookupError."
    assert (fresh(delivery).state, fresh(delivery).failed_attempts) == ("waiting", 1)


def say(what: bytes, peer: socket.socket, over: threading.Event) -> None:
    peer.sendall(what)


def test_the_database_refuses_a_second_row_for_the_same_occurrence(
    emit_to: Emit, owner: User
) -> None:
    (delivery,) = emit_to("http://example.com/")
    with pytest.raises(IntegrityError):
        enqueue([event_of(owner, "http://example.com/", delivery.subject_id)])
    assert Delivery.objects.count() == 1
