"""Simulates a database that is unreachable."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest
from django.db import OperationalError, connection


@contextmanager
def out_of_reach() -> Iterator[None]:
    """The connection's settings point to a socket where nobody listens."""
    known: dict[str, Any] = connection.settings_dict
    host = known["HOST"]
    connection.close()
    known["HOST"] = "/nonexistent"
    try:
        yield
    finally:
        connection.close()
        known["HOST"] = host


def away_at_first(monkeypatch: pytest.MonkeyPatch, function: str, times: int) -> list[object]:
    """The first calls of a function, such as `outbox.recording.record`, find the database away.
    Returns what all of its calls were given."""
    module, _, name = function.rpartition(".")
    real, calls = getattr(import_module(module), name), list[object]()

    def call(*args: Any, **kwargs: Any) -> Any:
        calls.append(args)
        if len(calls) <= times:
            raise OperationalError("connection refused")
        return real(*args, **kwargs)

    monkeypatch.setattr(function, call)
    monkeypatch.setattr("db.outages.STEP", 0.001)
    return calls
