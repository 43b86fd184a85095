"""What silent hosts of one account cost the others (issue 3, Shows). Real sockets."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from pytest_django import Settings

from accounts.models import User
from outbox.dispatcher import Dispatcher
from tests.waiting import stretched, wait_until
from tests.webhooks.conftest import Emit, fresh
from tests.webhooks.receivers import Receiver
from webhooks.models import Attempt

pytestmark = pytest.mark.django_db(transaction=True)
SILENT_HOSTS = 20


@pytest.fixture
def silent_urls() -> Iterator[list[str]]:
    """Twenty hosts that take connections and never say a word; a port more is a host more."""
    with contextlib.ExitStack() as listening:
        listeners = [
            listening.enter_context(socket.create_server(("127.0.0.1", 0)))
            for _ in range(SILENT_HOSTS)
        ]
        yield [f"http://127.0.0.1:{each.getsockname()[1]}/hook" for each in listeners]


@contextlib.contextmanager
def delivering(dispatcher: Dispatcher[Any]) -> Iterator[None]:
    """The dispatcher at work, until the end of the block."""

    def work() -> None:
        dispatcher.run_due()
        connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        dispatcher.stop()
        thread.join(stretched(20))


def test_twenty_silent_hosts_of_one_account_hold_up_nobody_else(
    dispatcher: Dispatcher[Any],
    emit_to: Emit,
    receiver: Receiver,
    silent_urls: list[str],
    owner: User,
    member: User,
    outsider: User,
    settings: Settings,
) -> None:
    """All of their threads are taken when the others' events come, and stay so for seconds."""
    settings.WEBHOOK_TIMEOUT_SECONDS = patience = stretched(4)
    for url in silent_urls:
        emit_to(url, owner, count=4)
    silent = Attempt.objects.filter(delivery__account_id=owner.pk)
    with delivering(dispatcher):
        wait_until(lambda: silent.count() >= 8)
        began = time.monotonic()
        theirs = []
        for account in (member, outsider):
            theirs += emit_to(receiver.url, account, count=5)
        wait_until(lambda: all(fresh(each).state == "delivered" for each in theirs))
        assert time.monotonic() - began < patience  # while silent ones were under way
        assert not silent.filter(finished_at__isnull=False).exists()
    waits = [at - each.created_at for each in theirs if (at := fresh(each).delivered_at)]
    assert max(waits) < timedelta(seconds=patience / 2)
