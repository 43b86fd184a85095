"""The tick: which sweeps have something to do, and the heartbeats of the others."""

import importlib
import sys
from collections.abc import Callable
from datetime import timedelta

import pytest
from celery import Task
from django.db import connection
from django.db.models.functions import Now
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from config import celery, settings
from db import sweeps, tasks, worker_status
from db.ids import new_id
from db.models import Heartbeat
from mailing import queue as mailing
from reviews import services
from reviews.models import CounterChange, EmailPreference, Notification, Request
from reviews.tasks import fold_counters
from tests.reviews.conftest import Make, let_lease_run_out, make_overdue
from tests.reviews.conftest import make as make
from tests.web.test_locked_tables import locked
from tests.webhooks.conftest import event_of
from webhooks.emission import enqueue
from webhooks.models import TEST_EVENT, Delivery

pytestmark = pytest.mark.django_db
PAST = Now() - timedelta(seconds=1)
LATER = Now() + timedelta(hours=1)
DUE = {"next_attempt_at": PAST}
LOST_TEST = {**DUE, "event": TEST_EVENT, "claim_id": "of a worker that crashed"}
CHANGE = {"creator_id": "a", "loop_id": "l", "status": "pending", "priority": "low", "n": 1}


def due() -> set[str]:
    return {sweep.name for sweep in sweeps.find_due()}


@pytest.fixture(autouse=True)
def _registered() -> None:
    """As in a worker, which imports the tasks of all rooms."""
    celery.app.loader.import_default_modules()


@pytest.fixture
def quiet(make: Make, member: User) -> Request:
    """A claimed request, with rows of every kind that are due later."""
    request = make()
    services.claim_request(request=request, reviewer_id=member.pk)
    Notification.objects.all().delete()
    notify(request, member, "push", at=LATER)
    notify(request, member, "mail", at=LATER)
    mailing.enqueue(b"sealed", life=600)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE mailing_queuedmail SET next_attempt_at = now() + interval '1 hour'")
    enqueue([event_of(request.creator, "http://127.0.0.1:9/", request.pk)])
    Delivery.objects.update(next_attempt_at=LATER)
    fold_counters()
    Heartbeat.objects.all().delete()
    return request


def notify(request: Request, person: User, channel: str, at: object = PAST) -> None:
    Notification.objects.create(
        account_id=request.creator_id,
        request=request,
        recipient=person,
        channel=channel,
        subscription_id=new_id() if channel == "push" else None,
        state="waiting",
        next_attempt_at=at,
    )


def test_nothing_is_due(quiet: Request, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(4):  # a savepoint, its end, the limit and one statement
        assert due() == set()
    assert set(worker_status.read_lags()) == set(worker_status.EXPECTED_SWEEPS)
    assert worker_status.find_late(worker_status.read_lags()) == []


@pytest.mark.parametrize(
    ("name", "arrange"),
    [
        ("settle_overdue", make_overdue),
        ("release_lapsed", let_lease_run_out),
        ("fold_counters", lambda _: CounterChange.objects.create(**CHANGE)),
        ("push_due", lambda _: Notification.objects.filter(channel="push").update(**DUE)),
        ("mail_due", lambda _: Notification.objects.filter(channel="mail").update(**DUE)),
        ("send_queued", lambda _: mailing.enqueue(b"sealed", life=600)),
        ("deliver_due", lambda _: Delivery.objects.update(next_attempt_at=PAST)),
        ("deliver_due", lambda _: Delivery.objects.update(**LOST_TEST)),
    ],
)
def test_each_is_started_when_it_has_something_to_do(
    quiet: Request, name: str, arrange: Callable[[Request], object]
) -> None:
    arrange(quiet)
    assert due() == {name}
    assert set(worker_status.read_lags()) == set(worker_status.EXPECTED_SWEEPS) - {name}


def test_a_finished_sweep_has_nothing_left(quiet: Request) -> None:
    make_overdue(quiet)
    (found,) = sweeps.find_due()
    assert found.runs == 2  # they share thousands of due requests
    assert found.task() == 1
    assert due() == {"fold_counters"}
    assert {"settle_overdue"} <= set(worker_status.read_lags())


def test_emails_to_a_person_who_had_one_just_now_are_not_due(quiet: Request, member: User) -> None:
    Notification.objects.filter(channel="mail").update(**DUE)
    preference = EmailPreference.objects.create(user=member, mailed_at=Now())
    assert due() == set()
    EmailPreference.objects.filter(pk=preference.pk).update(mailed_at=Now() - timedelta(seconds=61))
    assert due() == {"mail_due"}


def test_a_locked_table_stops_no_other_sweep(db: None) -> None:
    with locked("reviews_request"):
        assert due() == set(worker_status.EXPECTED_SWEEPS)
    assert worker_status.read_lags() == {}  # each records its own
    assert due() == set()


def test_heartbeats_are_not_written_every_second(db: None) -> None:
    due()
    first = dict(Heartbeat.objects.values_list("name", "beat_at"))
    due()
    assert dict(Heartbeat.objects.values_list("name", "beat_at")) == first
    for seconds in (sweeps.BEAT_AFTER + 1, -3600):  # -3600: the clock was an hour ahead
        Heartbeat.objects.update(beat_at=Now() - timedelta(seconds=seconds))
        due()
        assert max(worker_status.read_lags().values()) < 2
        assert Heartbeat.objects.filter(beat_at__lte=Now()).count() == len(
            worker_status.EXPECTED_SWEEPS
        )


def test_the_tick_sends_what_is_due(quiet: Request, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    monkeypatch.setattr(Task, "apply_async", lambda task: sent.append(task.name))
    assert tasks.tick() == 0
    assert sent == []
    make_overdue(quiet)
    Delivery.objects.update(**DUE)
    assert tasks.tick() == 2
    assert sent == [
        "webhooks.tasks.deliver_due",
        "reviews.tasks.settle_overdue",
        "reviews.tasks.settle_overdue",
    ]


def test_a_tick_that_hangs_occupies_one_thread(db: None) -> None:
    with tasks._running:
        assert tasks.tick() == 0
    assert worker_status.read_lags() == {}
    tasks.tick()
    assert worker_status.read_lags() != {}


def test_one_tick_a_second_is_for_all() -> None:
    every_second = [
        entry["task"]
        for entry in settings.CELERY_BEAT_SCHEDULE.values()
        if entry["schedule"] == 1.0
    ]
    assert every_second == [tasks.tick.name]
    assert set(sweeps.SWEEPS) == set(worker_status.EXPECTED_SWEEPS)
    assert {each.task.expires for each in sweeps.SWEEPS.values()} == {2}


def test_the_connection_outlives_a_task(db: None) -> None:
    fixup = importlib.import_module("celery.fixups.django")  # unknown to its stubs
    assert fixup.DjangoWorkerFixup(celery.app).db_reuse_max == sys.maxsize
