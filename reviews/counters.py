"""Stores the number of requests by scope, status and priority, which saves lists a count(*).

A trigger on the table of requests writes a `CounterChange` in the statement that changes a
request. `aggregate` adds the changes to `Counter` every second. Readers add both tables in one
snapshot, so their result equals count(*) before and after it.
"""

from dataclasses import dataclass

from django.db import connection, transaction

from reviews.lifecycle.settling import read_settled, scope_to_loops
from reviews.lifecycle.states import OPEN

AGGREGATE_BATCH = 5000
_ONE_REPAIRS_AT_A_TIME = 0x52657461  # an advisory lock of this database

_BY_SCOPE = """
SELECT scope_id, creator_id, status, priority, n FROM reviews_counter
 UNION ALL
SELECT loop_id, creator_id, status, priority, n FROM reviews_counterchange
 UNION ALL
SELECT creator_id, creator_id, status, priority, n FROM reviews_counterchange
"""
_AGGREGATE = """
WITH taken AS (
    DELETE FROM reviews_counterchange WHERE id IN (
        SELECT id FROM reviews_counterchange ORDER BY id LIMIT %(batch)s FOR UPDATE SKIP LOCKED)
    RETURNING creator_id, loop_id, status, priority, n
), aggregated AS (
    INSERT INTO reviews_counter (scope_id, status, priority, creator_id, n)
    SELECT scope_id, status, priority, min(creator_id), sum(n)
      FROM taken CROSS JOIN LATERAL (VALUES (creator_id), (loop_id)) AS scope (scope_id)
     GROUP BY 1, 2, 3 HAVING sum(n) <> 0
     ORDER BY 1, 2, 3  -- two calls at once lock in the same order
    ON CONFLICT ON CONSTRAINT reviews_counter_pkey DO UPDATE SET n = reviews_counter.n + excluded.n
)
SELECT count(*) FROM taken
"""
# By index, because a table that is filled and emptied all the time has many dead rows.
ANY_CHANGE = "(SELECT id FROM reviews_counterchange ORDER BY id LIMIT 1) IS NOT NULL"
_DIFFERENCES = f"""
SELECT scope_id, status, priority, coalesce(stored.n, 0) AS kept, coalesce(existing.n, 0) AS actual,
       creator_id
  FROM (SELECT scope_id, creator_id, status, priority, sum(n)::bigint AS n
          FROM ({_BY_SCOPE}) AS every GROUP BY 1, 2, 3, 4) AS stored
  FULL JOIN (SELECT scope_id, creator_id, status, priority, count(*) AS n FROM reviews_request
              CROSS JOIN LATERAL (VALUES (creator_id), (loop_id)) AS scope (scope_id)
              GROUP BY 1, 2, 3, 4) AS existing USING (scope_id, creator_id, status, priority)
 WHERE coalesce(stored.n, 0) <> coalesce(existing.n, 0)
"""  # noqa: S608 (nothing in it comes from outside)
# The repair adds the difference instead of setting the number, so concurrent changes stay correct.
_REPAIR = f"""
WITH difference AS ({_DIFFERENCES} ORDER BY 1, 2, 3), repaired AS (
    INSERT INTO reviews_counter (scope_id, status, priority, creator_id, n)
    SELECT scope_id, status, priority, creator_id, actual - kept FROM difference
    ON CONFLICT ON CONSTRAINT reviews_counter_pkey DO UPDATE SET n = reviews_counter.n + excluded.n
)
SELECT scope_id, status, priority, kept, actual FROM difference
"""  # noqa: S608
_OPEN = f"""
SELECT {scope_to_loops([]).is_due}, scope_id, n FROM (VALUES (1)) AS one LEFT JOIN (
    SELECT scope_id, sum(n)::bigint AS n
      FROM (SELECT scope_id, n FROM reviews_counter
             WHERE scope_id = ANY (%(loops)s) AND status = ANY (%(open)s)
             UNION ALL
            SELECT loop_id, n FROM reviews_counterchange
             WHERE loop_id = ANY (%(loops)s) AND status = ANY (%(open)s)) AS every
     GROUP BY scope_id) AS counted ON true
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class Difference:
    """A wrong counter: its value is `kept`, but there are `actual` requests."""

    scope_id: str
    status: str
    priority: str
    kept: int
    actual: int


def build_counts_sql(column: str, scope_id: str) -> str:
    """Builds SQL for rows `(status, priority, n)`, whose sums are the counts of a scope.

    `column` is `creator_id` or `loop_id`, `scope_id` an SQL expression.
    """
    return f"""
        SELECT status, priority, n FROM reviews_counter WHERE scope_id = {scope_id}
         UNION ALL
        SELECT status, priority, n FROM reviews_counterchange WHERE {column} = {scope_id}"""  # noqa: S608


def count_open_by_loop(loop_ids: list[str]) -> dict[str, int]:
    """Settles due requests of the loops and counts the open requests of each.

    A loop without open requests may be missing.
    """
    params = {"loops": loop_ids, "open": sorted(OPEN)}

    def read() -> tuple[dict[str, int], bool]:
        with connection.cursor() as cursor:
            cursor.execute(_OPEN, params)
            rows = cursor.fetchall()
        return {loop_id: n for _, loop_id, n in rows if loop_id is not None}, rows[0][0]

    return read_settled(scope_to_loops(loop_ids), read)


def aggregate() -> int:
    """Adds up to AGGREGATE_BATCH changes to the counters; returns how many changes."""
    with connection.cursor() as cursor:
        cursor.execute(_AGGREGATE, {"batch": AGGREGATE_BATCH})
        (aggregated,) = cursor.fetchone()
    return int(aggregated)


def find_differences() -> list[Difference]:
    """Counts all requests and returns the wrong counters, while writers go on."""
    return _compare(_DIFFERENCES)


@transaction.atomic
def repair() -> list[Difference]:
    """Corrects wrong counters and returns them as they were."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_ONE_REPAIRS_AT_A_TIME])
    return _compare(_REPAIR)


def _compare(sql: str) -> list[Difference]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return sorted((Difference(*row[:5]) for row in cursor.fetchall()), key=str)
