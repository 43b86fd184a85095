"""The figures of the overview: a few statements, each over an index and the last days alone."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from reviews.models import PRIORITIES

DAYS = 7
MOST_ANSWERS = 20_000  # of those days, the newest
LONGEST_TIMEOUT = timedelta(days=30)

_OPEN = """
SELECT priority, count(*), count(*) FILTER (WHERE claimed), min(timeout_at)
  FROM (SELECT priority, timeout_at,
               status = 'claimed' AND claim_expires_at > statement_timestamp() AS claimed
          FROM reviews_request
         WHERE creator_id = %(account)s AND status IN ('pending', 'claimed')
           AND timeout_at > statement_timestamp()) AS waiting
 GROUP BY priority
"""

# Answers belong to the day of the answer, timeouts to the day of the deadline. Either is at most
# as much younger than its request as a timeout can be, which makes the index of creation serve.
_ANSWERS = """
SELECT day, grouping(day), count(*), percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds),
       percentile_cont(0.9) WITHIN GROUP (ORDER BY seconds)
  FROM (SELECT (response_at AT TIME ZONE %(zone)s)::date AS day,
               extract(epoch FROM response_at - created_at) AS seconds
          FROM reviews_request
         WHERE creator_id = %(account)s AND status = 'completed'
           AND created_at >= %(start)s::timestamptz - %(longest)s::interval
           AND response_at >= %(start)s
         ORDER BY created_at DESC, id DESC LIMIT %(most)s) AS answered
 GROUP BY GROUPING SETS ((day), ())
"""

_ENDS = """
SELECT 'timeout', (timeout_at AT TIME ZONE %(zone)s)::date, count(*)
  FROM (SELECT timeout_at FROM reviews_request
         WHERE creator_id = %(account)s AND status = 'timeout' AND timeout_at >= %(start)s
           AND created_at >= %(start)s::timestamptz - %(longest)s::interval
         UNION ALL
        SELECT timeout_at FROM reviews_request
         WHERE creator_id = %(account)s AND status IN ('pending', 'claimed')
           AND timeout_at BETWEEN %(start)s AND statement_timestamp()) AS late
 GROUP BY 2
 UNION ALL
SELECT 'dead', (created_at AT TIME ZONE %(zone)s)::date, count(*)
  FROM webhooks_delivery
 WHERE account_id = %(account)s AND state = 'dead' AND created_at >= %(start)s
 GROUP BY 2
"""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The open requests of one priority; `next_at` is the nearest deadline."""

    priority: str
    count: int = 0
    claimed: int = 0
    next_at: Any = None


@dataclass(frozen=True, slots=True)
class AnswerTimes:
    """How long answers took, in seconds; None where there was none."""

    answered: int = 0
    median: float | None = None
    slowest_tenth: float | None = None


@dataclass(frozen=True, slots=True)
class Day:
    """What a day of the reader's brought."""

    day: date
    times: AnswerTimes
    timeouts: int
    dead: int


def read_waiting(account_id: str) -> list[Waiting]:
    """For each priority, critical first."""
    with connection.cursor() as cursor:
        cursor.execute(_OPEN, {"account": account_id})
        found = {row[0]: Waiting(*row) for row in cursor.fetchall()}
    return [found.get(priority, Waiting(priority)) for priority in reversed(PRIORITIES)]


def read_days(account_id: str) -> tuple[list[Day], AnswerTimes]:
    """The last days, today last, and the answer times of all of them together."""
    today = timezone.localdate()
    days = [today - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]
    zone = timezone.get_current_timezone()
    params: dict[str, Any] = {
        "account": account_id,
        "zone": str(zone),
        "start": timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
        - timedelta(days=DAYS - 1),
        "longest": LONGEST_TIMEOUT,
        "most": MOST_ANSWERS,
    }
    with connection.cursor() as cursor:
        cursor.execute(_ANSWERS, params)
        times = {
            None if whole else day: AnswerTimes(*row) for day, whole, *row in cursor.fetchall()
        }
        cursor.execute(_ENDS, params)
        ends = {(kind, day): count for kind, day, count in cursor.fetchall()}
    rows = [
        Day(
            day,
            times.get(day, AnswerTimes()),
            ends.get(("timeout", day), 0),
            ends.get(("dead", day), 0),
        )
        for day in days
    ]
    return rows, times.get(None, AnswerTimes())
