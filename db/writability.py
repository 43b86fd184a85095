"""Tells whether the database accepts writes, without a trial write on every check.

A full disk or a read-only server still reads. The database is suspect after a failed write of this
process, after one of another process (shared through the cache), or if no sweep has recorded its
heartbeat for a while. Only then is a write tried, at most every few seconds.
"""

import threading
import time

import structlog
from django.core.cache import cache
from django.db import DatabaseError, connection, transaction

FAILURES = {"53100", "25006", "58030"}  # disk full, read-only, error of the disk
SILENCE = 10.0  # seconds without a heartbeat
TRIAL_INTERVAL = 3.0  # seconds between two trial writes of this process
_KEY = "write-failed"
_KEPT = 300  # seconds in the cache
# A new table of 1 MB needs space on the disk. A changed row may fit into its page.
_TRIAL = """
CREATE TEMPORARY TABLE IF NOT EXISTS trial_write ON COMMIT DROP AS
SELECT n, repeat(md5(n::text), 32) AS filler FROM generate_series(1, 1000) n
"""
log = structlog.get_logger(__name__)


class Memory:
    """The failed writes known to this process."""

    def __init__(self) -> None:
        self.failed = False
        self.tried_at = float("-inf")
        self.lock = threading.Lock()


_memory = Memory()


def note_failure() -> None:
    """Records for all web processes that a write failed."""
    _memory.failed = True
    cache.set(_KEY, True, _KEPT)


def is_writable(lags: dict[str, float]) -> bool:
    """Tells whether the database accepts writes, as far as is known.

    `lags` are the seconds since each kind of background work recorded its heartbeat. Neither reads
    nor writes unless the database is suspect.
    """
    is_silent = not lags or min(lags.values()) > SILENCE
    if not (_memory.failed or is_silent or cache.get(_KEY)):
        return True
    with _memory.lock:
        if time.monotonic() - _memory.tried_at >= TRIAL_INTERVAL:
            try_write()
    return not (_memory.failed or cache.get(_KEY))


def try_write() -> None:
    """Tries a write without lasting data, and records whether it worked."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_TRIAL)
    except DatabaseError as error:
        log.error("database.not_writable", error=str(error))
        note_failure()
    else:
        _memory.failed = False
        cache.delete(_KEY)
    _memory.tried_at = time.monotonic()
