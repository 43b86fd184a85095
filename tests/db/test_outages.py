"""What counts as a database that cannot serve now."""

import psycopg
import pytest
from django.db import DataError, InterfaceError, InternalError, OperationalError, ProgrammingError
from psycopg import errors

from db.outages import is_outage


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
