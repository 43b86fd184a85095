"""The worker's sweeps over notifications that are due."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models.functions import Now
from pytest_django import DjangoAssertNumQueries

from db import worker_status
from outbox.claiming import any_due
from reviews.models import Notification, Request
from reviews.notifications import retention, tasks
from reviews.notifications.mail.channel import CHANNEL
from tests.reviews.conftest import Make

pytestmark = pytest.mark.django_db
HEARTBEAT = 1
CLAIM = 4  # statements: savepoint, lock, claim, release


def test_with_nothing_to_do(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(CLAIM + HEARTBEAT):
        assert tasks.push_due() == 0
    with django_assert_num_queries(CLAIM + HEARTBEAT):
        assert tasks.mail_due() == 0
    assert {"push_due", "mail_due"} <= set(worker_status.read_lags())


def test_waiting_emails_cost_a_look_up_for_each_person(make: Make) -> None:
    """However many wait for each, as in an outage of the mail server."""
    for _ in range(20):
        make()
    waiting = Notification.objects.filter(channel="mail")
    waiting.update(next_attempt_at=Now() + timedelta(hours=1))
    people = waiting.values("recipient").distinct().count()
    assert (people, waiting.count()) == (2, 40)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE reviews_notification")
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT {any_due(CHANNEL)}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    scans = re.findall(r"on reviews_notification.*rows=([\d.]+) loops=(\d+)", plan)
    assert sum(float(rows) * int(loops) for rows, loops in scans) <= people, plan
    assert "Rows Removed by Filter: 20" not in plan, plan


def test_all_that_is_old_is_forgotten_in_one_run(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "BATCH", 2)
    for _ in range(3):
        make()
    assert Notification.objects.count() > 4
    Notification.objects.update(state="sent", done_at=Now() - timedelta(days=8))
    Request.objects.update(status="cancelled", updated_at=Now() - timedelta(days=8))
    tasks.forget_old()
    assert not Notification.objects.exists()


def test_what_is_done_is_forgotten_after_some_days(make: Make) -> None:
    request = make()
    Notification.objects.all().delete()
    rows = [
        Notification(
            account_id=request.creator_id,
            request=request,
            recipient_id=request.creator_id,
            channel="push",
            subscription_id=str(days),
            state="sent",
            next_attempt_at=Now(),
            done_at=Now() - timedelta(days=days),
        )
        for days in (6, 8, 9)
    ]
    Notification.objects.bulk_create(rows)
    assert tasks.forget_old() == 0  # their request is open
    ended = Request.objects.filter(pk=request.pk)
    ended.update(status="cancelled", updated_at=Now() - timedelta(days=6))
    assert tasks.forget_old() == 0
    ended.update(updated_at=Now() - timedelta(days=8))
    assert tasks.forget_old() == 2
    assert Notification.objects.get().subscription_id == "6"
    assert Request.objects.exists()
