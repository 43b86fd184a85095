"""A web process that is killed while it pushes: the worker takes over."""

import os
import signal
from pathlib import Path

import pytest
import requests
from django.db.models.functions import Now

from accounts.models import User
from bench.serving import children as children_of
from loops.models import Loop
from reviews.models import Notification, Request
from reviews.notifications.push.channel import DISPATCHER
from tests.api.bodies import QUESTION
from tests.reviews.notifications.conftest import KEY, GivePhone
from tests.reviews.notifications.push_service import PushService
from tests.serving import serving
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def children() -> set[int]:
    """The processes that this one has started, and that live."""
    listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="utf-8")
    return {int(pid) for pid in listed.split()}


def test_the_worker_takes_over(
    loop: Loop,
    member: User,
    owner_key: str,
    give_phone: GivePhone,
    service: PushService,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VAPID_PRIVATE_KEY", KEY)
    phone = give_phone(member)
    before = children()
    with serving(tmp_path / "server.log") as site:
        (server,) = children() - before
        service.hold()

        headers = {"Authorization": f"Bearer {owner_key}"}
        path = f"{site}/v1/api/loops/{loop.pk}/requests"
        assert requests.post(path, json=QUESTION, headers=headers, timeout=10).status_code == 201
        wait_until(lambda: service.got)
        workers = children_of(server)
        os.kill(server, signal.SIGKILL)
        # A worker dies with its parent, but only once the parent is gone.
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))
        service.release()
    row = Notification.objects.get(channel="push")
    assert (row.state, bool(row.claim_id)) == ("waiting", True)
    assert DISPATCHER.run_due() == 0  # the lease of the dead still holds
    Notification.objects.filter(pk=row.pk).update(next_attempt_at=Now())
    assert DISPATCHER.run_due() == 1
    assert Request.objects.get().notifications_sent == 1
    first, second = service.got
    assert first.headers["topic"] == second.headers["topic"]  # the second replaces the first
    assert phone.read(second) == phone.read(first)
