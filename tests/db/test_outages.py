"""What counts as a database that cannot serve now."""

import threading
import time
from typing import Any
from unittest.mock import Mock

import psycopg
import pytest
from django.db import DataError, InterfaceError, InternalError, OperationalError, ProgrammingError
from psycopg import errors

from db import outages
from db.outages import is_outage, retry_until

LATER = time.monotonic() + 3600


def caused(error: Exception, cause: psycopg.Error) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    "error",
    [
        InterfaceError("closed"),
        OperationalError("no answer"),
        caused(OperationalError(), errors.LockNotAvailable()),
        caused(OperationalError(), errors.QueryCanceled()),
        caused(OperationalError(), errors.DiskFull()),
        caused(OperationalError(), errors.TooManyConnections()),
        caused(OperationalError(), errors.DeadlockDetected()),
        caused(OperationalError(), errors.AdminShutdown()),
        caused(OperationalError(), errors.IoError()),
        caused(InternalError(), errors.ReadOnlySqlTransaction()),
        caused(InternalError(), errors.IdleInTransactionSessionTimeout()),
    ],
    ids=lambda error: type(error.__cause__ or error).__name__,
)
def test_the_database_may_serve_later(error: Exception) -> None:
    assert is_outage(error)


@pytest.mark.parametrize(
    "error",
    [
        caused(ProgrammingError(), errors.UndefinedTable()),
        caused(DataError(), errors.NumericValueOutOfRange()),
        caused(InternalError(), errors.InFailedSqlTransaction()),
        caused(OperationalError(), errors.InvalidPassword()),
        ValueError(),
        None,
    ],
    ids=lambda error: type(getattr(error, "__cause__", None) or error).__name__,
)
def test_a_fault_of_ours_stays_one(error: Exception | None) -> None:
    assert not is_outage(error)


class Waited(threading.Event):
    """An event that is set at its n-th wait, if at all; nobody waits for it in earnest."""

    def __init__(self, set_at: int = 0) -> None:
        super().__init__()
        self.pauses: list[float] = []
        self.set_at = set_at

    def wait(self, timeout: float | None = None) -> bool:
        self.pauses.append(round(timeout or 0, 1))
        return len(self.pauses) == self.set_at


@pytest.fixture
def connection(monkeypatch: pytest.MonkeyPatch) -> Mock:
    found = Mock()
    monkeypatch.setattr(outages, "connection", found)
    return found


def test_what_the_database_serves_in_the_end(connection: Mock) -> None:
    ask = Mock(side_effect=[*[OperationalError("refused")] * 7, "served"])
    stopping = Waited()
    assert retry_until(ask, LATER, stopping) == "served"
    assert stopping.pauses == [0.2, 0.4, 0.6, 0.8, 1.0, 1.0]  # and none before the second call
    assert connection.close.call_count == 7


@pytest.mark.parametrize(
    ("deadline", "calls"),
    [((), 2), ((time.monotonic(),), 2), ((LATER, Waited(set_at=2)), 3)],
    ids=["none", "over", "stopping"],
)
@pytest.mark.usefixtures("connection")
def test_the_deadline_ends_it(deadline: tuple[Any, ...], calls: int) -> None:
    ask = Mock(side_effect=OperationalError("refused"))
    with pytest.raises(OperationalError):
        retry_until(ask, *deadline)
    assert ask.call_count == calls


def test_a_fault_of_ours_is_not_repeated(connection: Mock) -> None:
    ask = Mock(side_effect=caused(ProgrammingError(), errors.UndefinedTable()))
    with pytest.raises(ProgrammingError):
        retry_until(ask, LATER)
    assert (ask.call_count, connection.close.call_count) == (1, 0)
