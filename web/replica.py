"""Reads some pages from a replica that has replayed all writes of the primary.

A page is as current as its start: the replica must first have replayed everything that the primary
had written by then. The primary serves the page if the replica does not catch up within WAIT,
cannot settle due requests because it is read-only, or is unreachable. On a quiet primary this is
the case for some seconds after a clean-up, because no commit has flushed its records yet.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import structlog
from django.conf import settings
from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    InterfaceError,
    OperationalError,
    connection,
    connections,
)
from django.db.backends.base.base import BaseDatabaseWrapper
from django.http import HttpRequest, HttpResponse

from db.connections import wrap
from db.time_limits import WATCHDOG

WAIT = 0.1  # seconds for the replica to catch up
LOOK = 0.01  # seconds between two checks
SECONDS = 3.0  # seconds that a page may take on the replica
SHUNNED = 30.0  # seconds for which a replica that failed is left alone
_REPLAYED = "SELECT NOT pg_is_in_recovery() OR pg_last_wal_replay_lsn() >= %s::pg_lsn"

View = Callable[..., HttpResponse]
log = structlog.get_logger(__name__)
_of_thread = threading.local()
_shunned_until = 0.0


class Behind(Exception):
    """The replica has not replayed all writes of the primary."""


def prefer_replica(view: View) -> View:
    """Decorates a view that only reads; it may be called twice for one request."""

    @wraps(view)
    def read(request: HttpRequest, **ids: str) -> HttpResponse:
        is_reading = request.method in ("GET", "HEAD")
        database = settings.REPLICA_DATABASE
        if database and is_reading and time.monotonic() >= _shunned_until:
            try:
                with _reading_from(database):
                    return view(request, **ids)
            except (DatabaseError, InterfaceError, Behind) as error:
                _note(error)
        return view(request, **ids)

    return read


def _note(error: Exception) -> None:
    """Skips an unusable replica for a while."""
    global _shunned_until
    if isinstance(error, OperationalError | InterfaceError):
        _shunned_until = time.monotonic() + SHUNNED
        log.warning("replica.failed", error=str(error), seconds=SHUNNED)
    else:
        log.debug("replica.unused", error=str(error))


@contextmanager
def _reading_from(database: dict[str, Any]) -> Iterator[None]:
    """Connects this thread to the replica during the block. Raises Behind."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_wal_insert_lsn()::text")
        (written,) = cursor.fetchone()
    replica = _get_connection(database)
    with WATCHDOG.watching(replica, SECONDS):
        _await_replay(replica, written)
        primary = connections[DEFAULT_DB_ALIAS]
        connections[DEFAULT_DB_ALIAS] = replica
        try:
            yield
        finally:
            connections[DEFAULT_DB_ALIAS] = primary


def _get_connection(database: dict[str, Any]) -> BaseDatabaseWrapper:
    """Returns this thread's connection to the replica."""
    if getattr(_of_thread, "database", None) is not database:
        _of_thread.database, _of_thread.replica = database, wrap(database, alias="replica")
    replica: BaseDatabaseWrapper = _of_thread.replica
    replica.close_if_unusable_or_obsolete()
    return replica


def _await_replay(replica: BaseDatabaseWrapper, written: str) -> None:
    until = time.monotonic() + WAIT
    while True:
        with replica.cursor() as cursor:
            cursor.execute(_REPLAYED, [written])
            (has_replayed,) = cursor.fetchone()
        if has_replayed:
            return
        if time.monotonic() >= until:
            raise Behind(f"not yet at {written}")
        time.sleep(LOOK)
