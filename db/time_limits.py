"""Limits how long a web call may use the database.

The server's own time-outs (`config/database_urls.py`) end long statements and waits for locks. They
do not end a wait for a server that is stopped or disconnected, or for a commit that a replica must
confirm. So a thread cuts the connection of a call whose time is over, and while the database does
not answer, one thread at a time tries to connect and the others fail at once.
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

INTERVAL = 0.25  # seconds between two looks at the calls under way
SLOW = 1.0  # seconds; an attempt to connect that fails later than this was not answered
log = structlog.get_logger(__name__)


class Call:
    """A call under way, and the connection of its thread."""

    __slots__ = ("connection", "ends_at", "is_over")

    def __init__(self, seconds: float) -> None:
        self.ends_at = time.monotonic() + seconds
        self.is_over = False
        self.connection = connections[DEFAULT_DB_ALIAS]


class Watchdog:
    """One thread that cuts the connections of calls whose time is over."""

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
        """Raises OperationalError if the call of this thread has no time left to connect again."""
        call = self._calls.get(threading.get_ident())
        if call is not None and call.is_over:
            raise psycopg.OperationalError("the time of this call is over")

    def extend(self, seconds: float) -> None:
        """Gives the call of this thread so many seconds from now."""
        with self._lock:
            call = self._calls.get(threading.get_ident())
            if call is not None:
                call.ends_at = time.monotonic() + seconds

    @contextmanager
    def watching(self, wrapper: BaseDatabaseWrapper, seconds: float) -> Iterator[None]:
        """For the block, the call of this thread uses another connection, for so long at most."""
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
            with self._lock:  # so that no call ends, and its thread begins another, meanwhile
                for call in self._calls.values():
                    if time.monotonic() >= call.ends_at:
                        call.ends_at = time.monotonic() + 1  # again, if it connects just now
                        call.is_over = True
                        cut(call.connection)


class Gate:
    """While the database does not answer, lets one thread at a time connect to it."""

    def __init__(self) -> None:
        self.is_shut = False
        self._probe = threading.Lock()

    @contextmanager
    def pass_one(self) -> Iterator[None]:
        """Around an attempt to connect. Raises OperationalError if another thread is trying."""
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
    """Around work of a thread outside of a call, such as a part of a long response."""
    WATCHDOG.begin(seconds)
    try:
        yield
    finally:
        WATCHDOG.end()


def cut(wrapper: BaseDatabaseWrapper) -> None:
    """Ends the connection for both sides, whatever its thread waits for."""
    raw = wrapper.connection
    with suppress(OSError, psycopg.Error, AttributeError):  # closed meanwhile, or not yet open
        with socket.socket(fileno=os.dup(raw.fileno())) as stream:
            # before the thread of the call hears of it
            GATE.is_shut = GATE.is_shut or wrapper.alias != "replica"
            stream.shutdown(socket.SHUT_RDWR)
        log.error("database.cut", process=raw.pgconn.backend_pid)


def allow_longer(seconds: float) -> None:
    """Gives the transaction of this call more time, for work that is long but certain."""
    WATCHDOG.extend(seconds + 1)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('statement_timeout', %s, true)", [str(int(seconds * 1000))]
        )
