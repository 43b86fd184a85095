"""Knows which hosts of an account fail: notes it with each attempt, and reads it for pages.

A host fails from a failed attempt until the next delivery to it that succeeds. Test events do not
count. The notes are parts of the statement that records an attempt (`webhooks.channel`), so they
are as true as the attempts.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db import connection

MAX_COUNTED = 1000  # waiting deliveries of a host that are counted; more are "1,000+"
FORGOTTEN = 24  # hours after the last failure, if nothing waits for the host

# After an outage whose end the account knows of, or that it never heard of, a new one begins.
_IS_NEW = "f.recovered_at IS NOT NULL AND f.told_at IS NULL"
NOTE_FAILURE = f"""
    INSERT INTO webhooks_failinghost AS f
           (account_id, host, failing_since, failures, last_failed_at, last_status, last_error)
    SELECT %(account_id)s, %(host)s, statement_timestamp(), 1, statement_timestamp(),
           %(status)s, left(%(error)s, 200)
      FROM fenced WHERE %(counts)s AND NOT %(delivered)s
    ON CONFLICT ON CONSTRAINT webhooks_failinghost_pkey DO UPDATE SET
        failing_since = CASE WHEN {_IS_NEW} THEN excluded.failing_since ELSE f.failing_since END,
        failures = CASE WHEN {_IS_NEW} THEN 1 ELSE f.failures + 1 END,
        last_failed_at = excluded.last_failed_at, last_status = excluded.last_status,
        last_error = excluded.last_error, recovered_at = NULL
"""  # noqa: S608 (nothing in it comes from outside)
NOTE_SUCCESS = """
    UPDATE webhooks_failinghost AS f SET recovered_at = statement_timestamp() FROM fenced
     WHERE f.account_id = %(account_id)s AND f.host = %(host)s AND f.recovered_at IS NULL
       AND %(counts)s AND %(delivered)s
"""
WAITING = f"""(SELECT count(*) FROM (SELECT 1 FROM webhooks_delivery AS d
     WHERE d.account_id = f.account_id AND d.host = f.host AND d.state = 'waiting'
     LIMIT {MAX_COUNTED} + 1) AS counted)"""  # noqa: S608
_READ = f"""
SELECT host, failing_since, failures, last_status, last_error, {WAITING}
  FROM webhooks_failinghost AS f
 WHERE account_id = %s AND recovered_at IS NULL AND (
       last_failed_at > statement_timestamp() - interval '{FORGOTTEN} hours'
       OR EXISTS (SELECT FROM webhooks_delivery AS d
                   WHERE d.account_id = f.account_id AND d.host = f.host AND d.state = 'waiting'))
 ORDER BY failing_since, host LIMIT %s
"""  # noqa: S608 (nothing in it comes from outside)


@dataclass(frozen=True, slots=True)
class Failing:
    """A host that fails now. `waiting` counts at most MAX_COUNTED + 1 deliveries."""

    host: str
    since: datetime
    failures: int
    status: int | None
    error: str
    waiting: int


def read_failing(account_id: str, *, most: int) -> list[Failing]:
    """Reads up to `most` hosts of the account that fail now, the longest failing first."""
    with connection.cursor() as cursor:
        cursor.execute(_READ, [account_id, most])
        return [Failing(*row) for row in cursor.fetchall()]
