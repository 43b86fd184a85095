"""The statistics of the overview, in a few statements that read counters or an index only."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from reviews.counters import build_counts_sql
from reviews.lifecycle import settling
from reviews.lifecycle.conditions import OPEN
from reviews.models import PRIORITIES
from web.days import midnight

DAYS = 7
MAX_ANSWERS = 300  # the newest answers of a day, whose times are measured

# Numbers come from the counters. The nearest deadline is read from the inbox index of each of the
# account's loops: a loop's creator owns all of its requests.
_OPEN = f"""
WITH counted AS (
    SELECT priority, sum(n)::bigint AS n,
           coalesce(sum(n) FILTER (WHERE status = 'claimed'), 0)::bigint AS held
      FROM ({build_counts_sql("creator_id", "%(account)s")}) AS number
     WHERE status IN ('pending', 'claimed') GROUP BY priority
)
SELECT {settling.scope_to_account("").is_due}, priority, n, held, (
       SELECT min(nearest.timeout_at) FROM loops_loop l CROSS JOIN LATERAL (
              SELECT r.timeout_at FROM reviews_request r
               WHERE r.loop_id = l.id AND {OPEN}
                 AND r.priority_rank = array_position(%(priorities)s, counted.priority::text) - 1
               ORDER BY r.timeout_at LIMIT 1) AS nearest
        WHERE l.creator_id = %(account)s AND l.deleted_at IS NULL)
  FROM (VALUES (1)) AS one LEFT JOIN counted ON true
"""  # noqa: S608 (nothing in it comes from outside)

_SPANS = """unnest(%(days)s::date[], %(since)s::timestamptz[], %(until)s::timestamptz[])
       AS span (day, since, until)"""

# Answers count on the day of the answer, timeouts on the day of the deadline.
_COUNTS = f"""
SELECT day, answers.n AS answered, late.n AS late, dead.n AS dead
  FROM {_SPANS}
 CROSS JOIN LATERAL (
       SELECT count(*) AS n FROM reviews_answer WHERE account_id = %(account)s
          AND answered_at >= since AND answered_at < until) AS answers
 CROSS JOIN LATERAL (
       SELECT count(*) AS n FROM reviews_request WHERE creator_id = %(account)s
          AND status = 'timeout' AND timeout_at >= since AND timeout_at < until) AS late
 CROSS JOIN LATERAL (
       SELECT count(*) AS n FROM webhooks_delivery WHERE account_id = %(account)s
          AND state = 'dead' AND created_at >= since AND created_at < until) AS dead
"""  # noqa: S608

_TIMES = f"""
SELECT day, grouping(day) AS is_whole, percentile_cont(0.5) WITHIN GROUP (ORDER BY took) AS median,
       percentile_cont(0.9) WITHIN GROUP (ORDER BY took) AS slowest_tenth
  FROM {_SPANS}
 CROSS JOIN LATERAL (
       SELECT answered_at - asked_at AS took FROM reviews_answer
        WHERE account_id = %(account)s AND answered_at >= since AND answered_at < until
        ORDER BY answered_at DESC LIMIT {MAX_ANSWERS:d}) AS answer
 GROUP BY GROUPING SETS ((day), ())
"""  # noqa: S608
_DAYS = f"""
WITH counts AS MATERIALIZED ({_COUNTS}), times AS MATERIALIZED ({_TIMES})
SELECT counts.*, times.median, times.slowest_tenth, week.median, week.slowest_tenth
  FROM counts LEFT JOIN times ON times.day = counts.day AND times.is_whole = 0
  LEFT JOIN times AS week ON week.is_whole = 1
 ORDER BY counts.day
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class Waiting:
    """The open requests of one priority; `next_at` is the nearest deadline."""

    priority: str
    count: int = 0
    claimed: int = 0
    next_at: Any = None


@dataclass(frozen=True, slots=True)
class AnswerTimes:
    """The number of answers and their times in seconds; None without answers."""

    answered: int = 0
    median: float | None = None
    slowest_tenth: float | None = None


@dataclass(frozen=True, slots=True)
class Day:
    """The numbers of one day in the reader's time zone."""

    day: date
    times: AnswerTimes
    timeouts: int
    dead: int


def read_waiting(account_id: str) -> list[Waiting]:
    """Reads the open requests by priority, critical first. Settles due requests first."""
    params: dict[str, Any] = {"account": account_id, "priorities": list(PRIORITIES)}

    def read() -> tuple[dict[str, Waiting], bool]:
        with connection.cursor() as cursor:
            cursor.execute(_OPEN, params)
            rows = cursor.fetchall()
        return {row[1]: Waiting(*row[1:]) for row in rows if row[1] is not None}, rows[0][0]

    by_priority = settling.read_settled(settling.scope_to_account(account_id), read)
    return [by_priority.get(priority, Waiting(priority)) for priority in reversed(PRIORITIES)]


def read_days(account_id: str) -> tuple[list[Day], AnswerTimes]:
    """Reads the last days, today last, and their joint answer times. Call `read_waiting` first."""
    today = timezone.localdate()
    days = [today - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]
    params: dict[str, Any] = {
        "account": account_id,
        "days": days,
        "since": [midnight(day) for day in days],
        "until": [midnight(day, days_later=1) for day in days],
    }
    with connection.cursor() as cursor:
        cursor.execute(_DAYS, params)
        rows = cursor.fetchall()
    week = [
        Day(day, _build_answer_times(answered, took), late, dead)
        for day, answered, late, dead, *took, _, _ in rows
    ]
    return week, _build_answer_times(sum(day.times.answered for day in week), rows[0][-2:])


def _build_answer_times(answered: int, took: Sequence[timedelta | None]) -> AnswerTimes:
    return AnswerTimes(answered, *(None if each is None else each.total_seconds() for each in took))
