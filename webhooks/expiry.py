"""Ends deliveries that will never be attempted again.

A delivery behind an open circuit uses up no attempts. It ends once it has been due for as long as
the whole schedule takes, if the circuit was probed during that time: no delivery ends because our
own workers were away. A test event whose worker crashed ends as well, since it is never repeated.
"""

from typing import Any

from django.conf import settings
from django.db import connection

from outbox import schedule
from webhooks.channel import DELAYS, INTERRUPTED
from webhooks.circuits import FAILURES_TO_OPEN, MAX_PAUSE
from webhooks.models import TEST_EVENT

MAX_BATCH = 500  # in one statement; beat comes again in a second
_LOST = f"""
    SELECT id, account_id FROM webhooks_delivery
     WHERE claim_id IS NOT NULL AND next_attempt_at <= statement_timestamp()
       AND event = '{TEST_EVENT}'"""  # noqa: S608 (nothing in it comes from outside)
ANY_LOST = f"EXISTS ({_LOST})"
_EXPIRE = f"""
WITH held_back AS (
    SELECT d.id, c.account_id FROM webhooks_circuit c CROSS JOIN LATERAL (
        SELECT id FROM webhooks_delivery
         WHERE account_id = c.account_id AND host = c.host AND state = 'waiting'
           AND next_attempt_at <= statement_timestamp() - make_interval(secs => %(longest)s)
         ORDER BY next_attempt_at LIMIT %(most)s FOR UPDATE SKIP LOCKED
    ) d WHERE c.open_until > statement_timestamp() AND c.failures >= %(failures)s LIMIT %(most)s
), lost AS (
    {_LOST} LIMIT %(most)s FOR UPDATE SKIP LOCKED
), dead AS (
    UPDATE webhooks_delivery SET state = 'dead', claim_id = NULL, is_manual = false
     WHERE (id, account_id) IN (TABLE held_back UNION TABLE lost) AND state = 'waiting'
       AND next_attempt_at <= statement_timestamp() - make_interval(
           secs => CASE WHEN event = '{TEST_EVENT}' THEN 0 ELSE %(longest)s END)
    RETURNING id, account_id
), closed AS (
    UPDATE webhooks_attempt SET finished_at = statement_timestamp(), error = %(interrupted)s
     WHERE finished_at IS NULL AND (delivery_id, account_id) IN (TABLE dead)
)
SELECT count(*) FROM dead
"""  # noqa: S608


def expire() -> int:
    """Ends at most 500 deliveries, and returns how many."""
    longest = schedule.longest(DELAYS, scale=float(settings.WEBHOOK_SCHEDULE_SCALE))
    params: dict[str, Any] = {
        "longest": longest,
        # half of the probes that fit into that time: they come late when threads are short
        "failures": FAILURES_TO_OPEN + int(longest / MAX_PAUSE / 2),
        "most": MAX_BATCH,
        "interrupted": INTERRUPTED,
    }
    with connection.cursor() as cursor:
        cursor.execute(_EXPIRE, params)
        ((count,),) = cursor.fetchall()
    return int(count)
