"""Finds a reviewer's open requests of one answer type, or by the words of their text.

The cost does not grow with the queue: the MAX_SCANNED most urgent requests are scanned. If there
are more, words are looked up in the index, which finds rare words in all of them.
"""

from dataclasses import dataclass

from django.db import connection

from reviews.lifecycle.conditions import OPEN
from reviews.queries import search
from reviews.queries.queue import MINE, ORDER, build_first_sql, build_not_hidden_sql, build_scope
from reviews.queries.queue_filter import QueueFilter

MAX_SCANNED = search.MAX_SCANNED

_CREATORS = f"""SELECT DISTINCT l.creator_id FROM ({MINE}) AS mine
  JOIN loops_loop l ON l.id = mine.loop_id"""  # noqa: S608 (nothing in it comes from outside)


@dataclass(frozen=True, slots=True)
class Found:
    """The matching ids, the most urgent first. `is_partial`: less urgent ones may match as well."""

    ids: list[str]
    is_partial: bool
    is_due: bool  # whether a request in the person's loops is due


def find(user_id: str, chosen: QueueFilter, which: str = "TRUE") -> Found:
    """Finds requests that match the filter and `which` (SQL on `r`). At most two statements."""
    params = chosen.build_params(user_id)
    matches = f"{chosen.build_sql()} AND {which}"
    with connection.cursor() as cursor:
        cursor.execute(_build_scan(matches), params)
        found = Found(*cursor.fetchone())
        if found.is_partial and params["words"]:
            cursor.execute(_build_look_up(matches), params)
            ids, is_partial = cursor.fetchone()
            if not is_partial:
                return Found(ids, is_partial=False, is_due=found.is_due)
    return found


def _build_scan(matches: str) -> str:
    return f"""
WITH scanned AS MATERIALIZED ({build_first_sql(MAX_SCANNED + 1)})
SELECT ARRAY(SELECT r.id
               FROM (SELECT id FROM scanned ORDER BY {ORDER} LIMIT {MAX_SCANNED:d}) AS first
              CROSS JOIN LATERAL (  -- never hashed
                    SELECT * FROM reviews_request WHERE id = first.id OFFSET 0) AS r
              WHERE {matches} ORDER BY r.priority_rank DESC, r.timeout_at, r.id),
       (SELECT count(*) FROM scanned) > {MAX_SCANNED:d}, {build_scope("", None).is_due}"""  # noqa: S608


def _build_look_up(matches: str) -> str:
    indexed = search.INDEXED.format(accounts=_CREATORS, limit=search.MAX_INDEXED + 1)
    return f"""
WITH indexed AS MATERIALIZED ({indexed})
SELECT ARRAY(SELECT r.id FROM indexed JOIN reviews_request r USING (id)
               JOIN ({MINE}) AS mine USING (loop_id)
              WHERE {OPEN} AND {matches}
                AND {build_not_hidden_sql()}
              ORDER BY r.priority_rank DESC, r.timeout_at, r.id LIMIT {MAX_SCANNED:d}),
       (SELECT count(*) FROM indexed) > {search.MAX_INDEXED:d}"""  # noqa: S608
