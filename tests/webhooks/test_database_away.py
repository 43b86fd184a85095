"""While the database is away, as in a failover, claimed events wait for it, not for their lease."""

from typing import Any

import pytest

from outbox.dispatcher import Dispatcher
from tests.outage import away_at_first
from tests.webhooks.conftest import Emit, fresh
from tests.webhooks.receivers import Receiver

pytestmark = pytest.mark.django_db(transaction=True)
TIMES = 4  # a call that finds the database away


@pytest.mark.parametrize(
    "function",
    ["webhooks.channel.read_secrets", "outbox.recording.record"],
    ids=["before it is sent", "before it is recorded"],
)
def test_it_is_delivered_once_as_soon_as_the_database_is_back(
    receiver: Receiver, dispatcher: Dispatcher[Any], emit_to: Emit,
    monkeypatch: pytest.MonkeyPatch, function: str,
) -> None:  # fmt: skip
    calls = away_at_first(monkeypatch, function, TIMES)
    (delivery,) = emit_to(receiver.url)
    assert dispatcher.run_due() == 1
    assert fresh(delivery).state == "delivered"
    assert len(calls) == TIMES + 1
    assert [got.webhook_id for got in receiver.got] == [delivery.pk]
