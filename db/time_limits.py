"""Limits how long a web call may use the database.

The server's own time-outs (`config/database_urls.py`) end long statements and waits for locks. They
do not end a wait for a server that is stopped or disconnected, or for a commit that a replica must
confirm. A watchdog thread therefore cuts the connection of a call whose time is over. While the
database does not answer, only one thread at a time tries to connect; the others fail at once.
"""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psycopg
import structlog
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper

INTERVAL = 0.25  # seconds between two checks of the running calls
SLOW = 1.0  # seconds; a connection attempt that fails later counts as unanswered
log = structlog.get_logger(__name__)


class Call:
    """A running call, and the connection of its thread."""

    __slots__ = ("connection", "ends_at", "is_over")

    def __init__(self, seconds: float) -> None:
        self.ends_at = time.monotonic() + seconds
        self.is_over = False
        self.connection = connections[DEFAULT_DB_ALIAS]


class Watchdog:
    """A thread that cuts the connections of calls whose time is over."""

    def __init__(self) -> None:
        self._calls: dict[int, Call] = {}
        self._lock = threading.Lock()
        self._process = 0

    def begin(self, seconds: float) -> None:
        """Watches the call of this thread until `end`."""
        call = Call(seconds)
        with self._lock:
            self._calls[threading.get_ident()] = call
            if self._process != os.getpid():  # a server may fork after the first call
                self._process = os.getpid()
                threading.Thread(target=self._watch, name="time limits", daemon=True).start()

    def end(self) -> None:
        with self._lock:
            self._calls.pop(threading.get_ident(), None)

    def check(self) -> None:
        """Raises OperationalError if the call of this thread has no time left to reconnect."""
        call = self._calls.get(threading.get_ident())
        if call is not None and call.is_over:
            raise psycopg.OperationalError("the time of this call is over")

    def extend(self, seconds: float) -> None:
        """Sets the deadline of this thread's call to `seconds` from now."""
        with self._lock:
            call = self._calls.get(threading.get_ident())
            if call is not None:
                call.ends_at = time.monotonic() + seconds

    @contextmanager
    def watching(self, wrapper: BaseDatabaseWrapper, seconds: float) -> Iterator[None]:
        """Watches another connection of this thread's call during the block, with its own limit."""
        call = self._calls.get(threading.get_ident())
        if call is None:
            yield
            return
        with self._lock:
            kept = call.connection, call.ends_at
            call.connection = wrapper
            call.ends_at = min(call.ends_at, time.monotonic() + seconds)
        try:
            yield
        finally:
            with self._lock:
                call.connection, call.ends_at = kept
                call.is_over = time.monotonic() >= call.ends_at

    def _watch(self) -> None:
        while True:
            time.sleep(INTERVAL)
            with self._lock:  # under the lock: the thread must not begin another call meanwhile
                for call in self._calls.values():
                    if time.monotonic() >= call.ends_at:
                        call.ends_at = time.monotonic() + 1  # again, if it connects just now
                        call.is_over = True
                        cut(call.connection)


class Gate:
    """Lets one thread at a time connect while the database does not answer."""

    def __init__(self) -> None:
        self.is_shut = False
        self._probe = threading.Lock()

    @contextmanager
    def pass_one(self) -> Iterator[None]:
        """Guards a connection attempt. Raises OperationalError if another thread is connecting."""
        was_shut = self.is_shut
        has_probe = was_shut and self._probe.acquire(blocking=False)
        if was_shut and not has_probe:
            raise psycopg.OperationalError("the database did not answer; another call is trying")
        begun = time.monotonic()
        try:
            yield
        except psycopg.OperationalError:
            self.is_shut = self.is_shut or time.monotonic() - begun > SLOW
            raise
        else:
            self.is_shut = False
        finally:
            if has_probe:
                self._probe.release()


WATCHDOG = Watchdog()
GATE = Gate()


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Limits database work outside a call, such as a part of a long response."""
    WATCHDOG.begin(seconds)
    try:
        yield
    finally:
        WATCHDOG.end()


def cut(wrapper: BaseDatabaseWrapper) -> None:
    """Shuts the connection down for both sides, even while its thread waits."""
    raw = wrapper.connection
    with suppress(OSError, psycopg.Error, AttributeError):  # already closed, or not yet open
        with socket.socket(fileno=os.dup(raw.fileno())) as stream:
            # before the thread of the call notices
            GATE.is_shut = GATE.is_shut or wrapper.alias != "replica"
            stream.shutdown(socket.SHUT_RDWR)
        log.error("database.cut", process=raw.pgconn.backend_pid)


def allow_longer(seconds: float) -> None:
    """Gives the transaction of this call more time, for long work of a known size."""
    WATCHDOG.extend(seconds + 1)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('statement_timeout', %s, true)", [str(int(seconds * 1000))]
        )
