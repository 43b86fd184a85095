"""Limits how many web threads wait for locks at a time.

A lock that is held for long could otherwise block all threads of the process, and with them calls
that do not need the lock. After a lock time-out only a few calls wait for the full
WEB_LOCK_SECONDS. All others wait briefly and then get a 503.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from weakref import WeakSet

import psycopg
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection, transaction

MEMORY = 5.0  # seconds after a lock time-out
MAX_FULL_WAITS = 2  # calls of this process that may then wait for the full time
BRIEF = "100ms"

_places = threading.BoundedSemaphore(MAX_FULL_WAITS)
_brief: WeakSet[psycopg.Connection] = WeakSet()
"""The connections on which BRIEF is set."""
_until: float | None = None
"""None before the first time-out of this process: no connection can be brief yet."""


def note_timeout() -> None:
    """Records a lock time-out of a call of this process."""
    global _until
    _until = time.monotonic() + MEMORY


def forget() -> None:
    """Forgets earlier lock time-outs."""
    global _until
    _until = 0.0


def begin_call() -> bool:
    """Sets how long this call waits for locks; returns whether it may wait for the full time."""
    if _until is None:
        return False
    if time.monotonic() >= _until:
        if _brief or wait_briefly in connection.execute_wrappers:
            set_brief(is_brief=False)
        return False
    has_place = _places.acquire(blocking=False)
    set_brief(is_brief=not has_place)
    return has_place


def end_call(has_place: bool) -> None:
    if has_place:
        _places.release()


def set_brief(*, is_brief: bool) -> None:
    """Changes the lock time-out of this thread's open connection, unless it is set already."""
    if settings.DATABASE_POOLER:
        if is_brief != (wait_briefly in connection.execute_wrappers):
            wrappers = connection.execute_wrappers
            (wrappers.append if is_brief else wrappers.remove)(wait_briefly)
        return
    raw = connection.connection
    if raw is None or is_brief == (raw in _brief):
        return
    with suppress(DatabaseError, InterfaceError):  # the call itself will fail
        with connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout = '{BRIEF}'" if is_brief else "RESET lock_timeout")
        (_brief.add if is_brief else _brief.discard)(raw)


def wait_briefly(
    execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    """Runs a statement with BRIEF as its lock time-out, in a transaction.

    With a pooler, other clients would inherit a setting of the session.
    """
    if not connection.in_atomic_block:
        with transaction.atomic():
            return wait_briefly(execute, sql, params, many, context)
    connection.connection.execute(f"SET LOCAL lock_timeout = '{BRIEF}'")
    return execute(sql, params, many, context)
