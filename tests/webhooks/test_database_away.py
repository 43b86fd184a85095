"""While the database is away, as in a failover, claimed events wait for it, not for their lease."""

import importlib
from typing import Any

import pytest
from django.db import OperationalError

from tests.webhooks.conftest import Emit, fresh
from tests.webhooks.receivers import Receiver
from webhooks.dispatch import Dispatcher

pytestmark = pytest.mark.django_db(transaction=True)
TIMES = 4  # a call that finds the database away


@pytest.mark.parametrize(
    ("module", "name"),
    [("webhooks.attempt", "read_secrets"), ("webhooks.outbox", "record")],
    ids=["before it is sent", "before it is recorded"],
)
def test_it_is_delivered_once_as_soon_as_the_database_is_back(
    receiver: Receiver, dispatcher: Dispatcher, emit_to: Emit,
    monkeypatch: pytest.MonkeyPatch, module: str, name: str,
) -> None:  # fmt: skip
    real, calls = getattr(importlib.import_module(module), name), []

    def away_at_first(*args: Any, **kwargs: Any) -> Any:
        calls.append(args)
        if len(calls) <= TIMES:
            raise OperationalError("connection refused")
        return real(*args, **kwargs)

    monkeypatch.setattr(f"{module}.{name}", away_at_first)
    monkeypatch.setattr("db.outages.STEP", 0.001)
    (delivery,) = emit_to(receiver.url)
    assert dispatcher.run_due() == 1
    assert fresh(delivery).state == "delivered"
    assert len(calls) == TIMES + 1
    assert [got.webhook_id for got in receiver.got] == [delivery.pk]
