"""A worker that is killed at random moments, while it sends through all four channels."""

import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.core.mail import EmailMessage
from django.db.models import Sum
from django.db.models.functions import Now
from pytest_django import Settings

from accounts.models import User
from mailing.models import QueuedMail
from reviews.models import EmailPreference, Notification, Request
from tests.mailing.conftest import server as server
from tests.mailing.mail_server import MailServer
from tests.processes.stack import ROOT
from tests.reviews.conftest import Make
from tests.reviews.conftest import make as make
from tests.reviews.notifications.conftest import KEY, GivePhone
from tests.reviews.notifications.conftest import give_phone as give_phone
from tests.reviews.notifications.conftest import push_key as push_key
from tests.reviews.notifications.conftest import service as service
from tests.reviews.notifications.push_service import PushService
from tests.serving import database_url
from tests.waiting import wait_until
from tests.webhooks.conftest import Emit
from tests.webhooks.conftest import emit_to as emit_to
from tests.webhooks.conftest import receiver as receiver
from tests.webhooks.receivers import Receiver
from webhooks.models import Attempt, Delivery

pytestmark = pytest.mark.django_db(transaction=True)
KILLS = 30
Worker = subprocess.Popen[str]


@pytest.fixture
def worker(server: MailServer, push_key: str) -> Iterator[Worker]:
    environment = {
        **os.environ,
        "DATABASE_URL": database_url(),
        "EMAIL_URL": f"smtp://127.0.0.1:{server.port}",
        "VAPID_PRIVATE_KEY": KEY,
        "VAPID_SUBJECT": "mailto:operator@example.com",
        "LOG_LEVEL": "ERROR",
    }
    command = [sys.executable, "-m", "tests.outbox.worker"]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert hear(process) == "ready"
        yield process
        process.terminate()


def hear(worker: Worker) -> str:
    assert worker.stdout is not None
    line: str = worker.stdout.readline()
    return line.strip()


def begin(worker: Worker) -> int:
    """Has it send; returns the id of the process that does."""
    assert worker.stdin is not None
    worker.stdin.write("\n")
    worker.stdin.flush()
    return int(hear(worker))


def kill(worker: Worker, pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    assert hear(worker) == "ended"


def let_leases_run_out() -> None:
    tables: tuple[Any, ...] = (Delivery.objects, Notification.objects, QueuedMail.objects)
    for rows in tables:
        rows.filter(claim_id__isnull=False).update(next_attempt_at=Now())
    EmailPreference.objects.update(mailed_at=Now() - timedelta(hours=1))


def is_all_sent() -> bool:
    EmailPreference.objects.update(mailed_at=Now() - timedelta(hours=1))
    return not (
        Delivery.objects.filter(state="waiting").exists()
        or Notification.objects.filter(state="waiting").exists()
        or QueuedMail.objects.exists()
    )


def is_enough(count: Callable[[], int], enough: int) -> bool:
    return count() >= enough or is_all_sent()


def test_nothing_is_lost_and_nothing_is_recorded_twice(
    worker: Worker,
    server: MailServer,
    service: PushService,
    receiver: Receiver,
    emit_to: Emit,
    make: Make,
    give_phone: GivePhone,
    owner: User,
    member: User,
    settings: Settings,
) -> None:
    chance = random.Random(34)
    settings.DELIVERIES_ARE_ON = False  # in this process; that one sends
    phones = [give_phone(member) for _ in range(2)]
    subjects: list[str] = []

    def letters() -> list[str]:
        subjects = [str(mail["Subject"]) for _, mail in server.got]
        return [subject for subject in subjects if "Question" in subject]

    counts: list[Callable[[], int]] = [
        lambda: len(receiver.got),
        lambda: len(service.got),
        lambda: len(letters()),
        lambda: len(server.got) - len(letters()),
    ]
    for number in range(KILLS):
        emit_to(receiver.url, count=4)
        make(request_text=f"Question {number}?")  # two pushes, and one email
        for _ in range(3):
            subjects.append(f"Code {len(subjects)}")
            EmailMessage(subjects[-1], "x", to=["ada@example.org"]).send()
        count = chance.choice(counts)
        enough, pid = count() + chance.randint(1, 2), begin(worker)
        wait_until(partial(is_enough, count, enough))
        kill(worker, pid)
        let_leases_run_out()
    pid = begin(worker)
    wait_until(is_all_sent, 60)
    kill(worker, pid)

    deliveries = Delivery.objects.values_list("pk", flat=True)
    assert {got.webhook_id for got in receiver.got} == set(deliveries)
    assert Delivery.objects.filter(state="delivered").count() == 4 * KILLS
    assert Attempt.objects.filter(status_code=204).count() == 4 * KILLS
    assert Attempt.objects.filter(finished_at=None).count() == 0
    pushes = Notification.objects.filter(channel="push")
    assert pushes.filter(state="sent").count() == len(phones) * KILLS == pushes.count()
    assert Request.objects.aggregate(n=Sum("notifications_sent"))["n"] == len(phones) * KILLS
    assert Notification.objects.filter(channel="mail", state="sent").count() == KILLS
    more = [re.search(r"and (\d+) more", subject) for subject in letters()]
    assert sum(1 + int(found[1]) if found else 1 for found in more) >= KILLS
    assert len(more) > 3
    assert set(subjects) <= {str(mail["Subject"]) for _, mail in server.got}
