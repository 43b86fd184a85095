"""Grants leases for exports: one per account at a time, so that no account takes all threads.

The lease is renewed while pages are read. A client that reads nothing is cut off by the web server
(web/server/limits.py, `stalled`) before its lease ends.
"""

import time
from collections.abc import Generator, Iterator
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from accounts.audit import record
from db.ids import new_id
from db.time_limits import limited
from reviews.models import ExportLease

LEASE = 90  # seconds; more than the web server waits for a client that takes nothing
RENEWED = 15  # seconds after which it is renewed

_BEGIN = """
INSERT INTO reviews_exportlease AS lease (account_id, token, expires_at)
VALUES (%(account)s, %(token)s, statement_timestamp() + make_interval(secs => %(lease)s))
ON CONFLICT ON CONSTRAINT reviews_exportlease_pkey
DO UPDATE SET token = excluded.token, expires_at = excluded.expires_at
 WHERE lease.expires_at <= statement_timestamp()
"""
_RENEW = """
UPDATE reviews_exportlease
   SET expires_at = statement_timestamp() + make_interval(secs => %(lease)s)
 WHERE account_id = %(account)s AND token = %(token)s
"""


class AlreadyExporting(Exception):
    """Another export of the account is under way."""


class LeaseLost(Exception):
    """The export paused for too long; another one may have begun."""


class Lease:
    """The lease of one export. Raises AlreadyExporting."""

    def __init__(self, account_id: str) -> None:
        self._params: dict[str, Any] = {"account": account_id, "token": new_id(), "lease": LEASE}
        if not _execute(_BEGIN, self._params):
            raise AlreadyExporting
        self._renewed_at = time.monotonic()

    def renew(self) -> None:
        """Renews the lease if it is due for that. Raises LeaseLost."""
        if time.monotonic() - self._renewed_at > RENEWED:
            if not _execute(_RENEW, self._params):
                raise LeaseLost
            self._renewed_at = time.monotonic()

    def end(self) -> None:
        """Lets the account export again."""
        mine = {"account_id": self._params["account"], "token": self._params["token"]}
        ExportLease.objects.filter(**mine).delete()


@transaction.atomic
def begin(*, account_id: str, action: str, subject: str = "", key_id: str | None = None) -> Lease:
    """Begins an export and records it in the audit log as `action`. Raises AlreadyExporting.

    `subject` says what is exported, such as 'CSV, status=timeout'.
    """
    lease = Lease(account_id)
    record(
        account_id=account_id, actor_id=account_id, action=action, subject=subject, key_id=key_id
    )
    return lease


class Download:
    """The parts of a file. Closing it at any point ends the lease.

    Each part is read in a step of its own, and only if whoever began the download may still go on.
    """

    def __init__(self, parts: Generator[str, None, None], lease: Lease) -> None:
        self._parts, self._lease = parts, lease

    def __iter__(self) -> Iterator[str]:
        while (part := self.read_next()) is not None:
            yield part

    def close(self) -> None:
        self._parts.close()
        with limited(settings.WEB_DATABASE_SECONDS):
            self._lease.end()

    def read_next(self) -> str | None:
        """Returns the next part, None after the last. Raises LeaseLost, and what `check` raises."""
        with limited(settings.WEB_DATABASE_SECONDS):
            self.check()
            self._lease.renew()
            return next(self._parts, None)

    def check(self) -> None:
        """Raises an error of the kind of download if it must not go on."""
        raise NotImplementedError


def _execute(sql: str, params: dict[str, Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return int(cursor.rowcount)
