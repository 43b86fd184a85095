"""The connection that hears notifications comes back, and less and less often while it cannot."""

import random
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest

from db import listening
from db.listening import Listener


class Stop(BaseException):
    """Ends the thread's endless work."""


class Broken:
    """A connection that listens, and breaks at once."""

    def __enter__(self) -> "Broken":
        return self

    def __exit__(self, *_: object) -> None: ...

    def execute(self, *_: object) -> None: ...

    def notifies(self) -> list[Any]:
        raise psycopg.OperationalError("it broke")


def pauses(monkeypatch: pytest.MonkeyPatch, connections: list[Any]) -> tuple[list[float], int]:
    """The pauses between attempts with these results, and how often hints were missed."""
    slept: list[float] = []
    missed: list[int] = []
    results = iter(connections)

    def connect(**_: Any) -> Any:
        result = next(results, None)
        if result is None:
            raise Stop
        if isinstance(result, Exception):
            raise result
        return result

    monkeypatch.setattr(random, "uniform", lambda _low, high: high)
    monkeypatch.setattr(psycopg, "connect", connect)
    # the module's own: other threads of this process sleep as well
    monkeypatch.setattr(listening, "time", SimpleNamespace(sleep=slept.append))
    listener = Listener("channel", lambda _: None, lambda: missed.append(1))
    monkeypatch.setattr(listener, "_read_parameters", dict)
    with pytest.raises(Stop):
        listener._work()
    return slept, len(missed)


def test_the_pause_grows_until_a_connection_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    away = psycopg.OperationalError("away")
    slept, missed = pauses(monkeypatch, [away] * 7 + [Broken(), away, away])
    assert slept == [1, 2, 4, 8, 16, 30, 30, 1, 2, 4]
    assert missed == 1


def test_processes_do_not_come_back_together() -> None:
    chosen = {Listener("channel", lambda _: None, lambda: None)._choose_pause() for _ in range(20)}
    assert len(chosen) > 1
    assert all(0.5 <= pause <= 1 for pause in chosen)
