"""Records outcomes and gives claims back, while the claim id is still the row's."""

import functools
import random
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from django.db import connection, transaction

from outbox.channel import Channel
from outbox.items import C, Item, Outcome, Result
from outbox.schedule import next_delay

SOON = "statement_timestamp() + make_interval(secs => %(delay)s::float)"
_FENCED = """
WITH fenced AS (
    {change}
     WHERE entry.id = ANY (%(ids)s::text[]) AND entry.claim_id = %(claim_id)s::text {condition}
    RETURNING entry.*
){follows}
SELECT count(*) FROM fenced
"""
_RETRY = """UPDATE {table} AS entry
       SET claim_id = NULL, failed_attempts = failed_attempts + 1,
           next_attempt_at = {soon} {retried}"""
_GIVE_BACK = """UPDATE {table} AS entry
       SET claim_id = NULL, next_attempt_at = statement_timestamp()"""


def judge(channel: Channel[C], item: Item[C], outcome: Outcome) -> tuple[Result, float]:
    """What follows from an outcome, and the seconds until the next attempt."""
    if outcome.result != Result.RETRY:
        return outcome.result, 0.0
    delay = next_delay(
        channel.delays,
        failed_attempts=item.failed_attempts + 1,
        chance=random.random(),  # noqa: S311 (jitter)
        retry_after=outcome.retry_after,
        scale=channel.scale,
    )
    return (Result.FAILED, 0.0) if delay is None else (Result.RETRY, delay)


def record(channel: Channel[C], item: Item[C], outcome: Outcome) -> Result | None:
    """Writes what follows from an outcome, and returns it; None if the lease was lost.

    What would be repeated only after it has expired fails instead.
    """
    result, delay = judge(channel, item, outcome)
    params = {**channel.params(item, outcome), **_fence(item), "delay": delay}
    if result == Result.RETRY:
        if _write(_build(channel, result), params):
            return result
        if channel.in_time == "true":
            return None
        result = Result.FAILED
    before = channel.before_failing if result == Result.FAILED else ""
    with transaction.atomic() if before else nullcontext():
        if before:
            with connection.cursor() as cursor:
                cursor.execute(before, params)
        return result if _write(_build(channel, result), params) else None


def give_back(channel: Channel[C], items: Sequence[Item[C]]) -> None:
    """Undoes claims whose attempt was never begun: the rows are due again at once."""
    for item in items:
        _write(_build(channel, None), _fence(item))


@functools.cache
def _build(channel: Channel[Any], result: Result | None) -> str:
    """Builds the statement that records a result; for None the one that gives back."""
    if result is None:
        change, follows = _GIVE_BACK.format(table=channel.table), channel.given_back
    else:
        follows = channel.follows.get(result, "")
        retry = _RETRY.format(table=channel.table, soon=SOON, retried=channel.retried)
        change = {Result.SENT: channel.sent, Result.FAILED: channel.failed}.get(result, retry)
    condition = f"AND {channel.in_time}" if result == Result.RETRY else ""
    return _FENCED.format(change=change, condition=condition, follows=follows)


def _write(sql: str, params: dict[str, Any]) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return bool(cursor.fetchone()[0])


def _fence(item: Item[Any]) -> dict[str, Any]:
    return {"ids": list(item.ids), "claim_id": item.claim_id}
