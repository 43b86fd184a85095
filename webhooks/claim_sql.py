"""The statements that claim due deliveries, for `webhooks.outbox`.

Deliveries of one account to one host form a lane, which has a few places. In one of them the newest
delivery goes first, so that a fresh event does not wait for a long backlog; in the others the
oldest. A lane with a single place (a probe of a circuit) takes the oldest.

Accounts take turns, those with the fewest under way first. An account with many lanes has no more
than one of its newest under way for two others, so that the old ones never starve.

Test events have no lane: they wait neither for a backlog nor for a circuit, and each account has a
few under way. They count as in doubt, because nobody knows yet whether their hosts respond.

A delivery whose worker was killed is in doubt as well: its response may be what killed it. It uses
up no attempt.
"""

from db.ids import owned_id_sql
from webhooks.models import TEST_EVENT

LOOKED_AT = 20  # of a lane's latest, to find one that has not failed before
OLD_FOR_NEW = 2  # others under way for each of the newest, where an account has many lanes
TESTS_AT_ONCE = 2  # under way for an account

_DUE = f"""
    state = 'waiting' AND next_attempt_at <= statement_timestamp() AND event <> '{TEST_EVENT}'
"""
_LANE = """
lane AS (  -- from lane to lane by index, however many wait in one
    (SELECT account_id, host FROM webhooks_delivery WHERE state = 'waiting' {after}
      ORDER BY account_id, host LIMIT 1)
    UNION ALL
    SELECT following.account_id, following.host FROM lane CROSS JOIN LATERAL (
        SELECT account_id, host FROM webhooks_delivery
         WHERE state = 'waiting' AND (account_id, host) > (lane.account_id, lane.host)
         ORDER BY account_id, host LIMIT 1) following
)
"""
_HAS_DUE = """
EXISTS (SELECT FROM webhooks_delivery
         WHERE account_id = lane.account_id AND host = lane.host AND state = 'waiting'
           AND next_attempt_at <= statement_timestamp())
"""
ANY_DUE = f"EXISTS (WITH RECURSIVE {_LANE.format(after='')} SELECT FROM lane WHERE {_HAS_DUE})"
# The next lanes with something due, and whether their account is locked for this transaction.
_AFTER = "AND (account_id, host) > (%(after_account)s, %(after_host)s)"
LOCK_LANES = f"""
WITH RECURSIVE {_LANE.format(after=_AFTER)}
SELECT account_id, host, pg_try_advisory_xact_lock(%(lock)s, hashtext(account_id))
  FROM (SELECT account_id, host FROM lane WHERE {_HAS_DUE} LIMIT %(lanes)s) AS found
"""  # noqa: S608
AWAIT_ACCOUNT = "SELECT pg_advisory_xact_lock(%(lock)s, hashtext(%(account)s))"
_LANES = """
lane AS (
    SELECT account_id, host
      FROM unnest(%(lane_accounts)s::text[], %(lane_hosts)s::text[]) AS each (account_id, host)
), busy AS (
    SELECT account_id, host, event = %(test_event)s AS is_test, count(*) AS n,
           count(*) FILTER (WHERE newest_first) AS newest
      FROM webhooks_delivery
     WHERE claim_id IS NOT NULL AND next_attempt_at > statement_timestamp()
     GROUP BY account_id, host, is_test
), holding AS (
    SELECT account_id, sum(n) AS held, sum(newest) AS newest,
           coalesce(sum(n) FILTER (WHERE is_test), 0) AS tests
      FROM busy GROUP BY account_id
), width AS (
    SELECT lane.account_id, lane.host, c.failures IS NOT NULL AS in_doubt,
           CASE WHEN c.open_until > statement_timestamp() THEN 0
                WHEN c.failures >= %(to_open)s THEN 1
                ELSE %(per_host)s END AS places
      FROM lane LEFT JOIN webhooks_circuit c USING (account_id, host)
), lanes AS (
    SELECT width.account_id, width.host, in_doubt,
           greatest(places - coalesce(n, 0), 0) AS free,
           (places > 1 AND places > coalesce(n, 0) AND coalesce(newest, 0) = 0)::int AS for_newest
      FROM width LEFT JOIN busy
        ON busy.account_id = width.account_id AND busy.host = width.host AND NOT is_test
)
"""
_CANDIDATES = f"""
due AS (
    SELECT d.*, lanes.account_id, in_doubt, false AS is_test
      FROM lanes LEFT JOIN LATERAL (
        SELECT id, next_attempt_at, is_abandoned FROM (
            SELECT id, next_attempt_at, failed_attempts, claim_id IS NOT NULL AS is_abandoned
              FROM webhooks_delivery
             WHERE account_id = lanes.account_id AND host = lanes.host AND {_DUE}
             ORDER BY next_attempt_at DESC LIMIT {LOOKED_AT} * for_newest
        ) latest ORDER BY failed_attempts > 0, next_attempt_at DESC LIMIT 1
      ) newest ON true CROSS JOIN LATERAL (
        SELECT newest.*, true AS newest_first WHERE newest.id IS NOT NULL
        UNION ALL
        (SELECT id, next_attempt_at, claim_id IS NOT NULL, false FROM webhooks_delivery
          WHERE account_id = lanes.account_id AND host = lanes.host AND {_DUE}
            AND id IS DISTINCT FROM newest.id
          ORDER BY next_attempt_at LIMIT greatest(free - (newest.id IS NOT NULL)::int, 0))
      ) d
    UNION ALL
    SELECT id, next_attempt_at, false, false, test.account_id, true, true FROM (
        SELECT id, next_attempt_at, account_id,
               row_number() OVER (PARTITION BY account_id ORDER BY next_attempt_at, id) AS place
          FROM webhooks_delivery
         WHERE account_id = ANY (%(lane_accounts)s::text[])
           AND state = 'waiting' AND event = '{TEST_EVENT}' AND claim_id IS NULL
           AND next_attempt_at <= statement_timestamp()
    ) test LEFT JOIN holding USING (account_id)
     WHERE place + coalesce(tests, 0) <= {TESTS_AT_ONCE}
), ranked AS (
    SELECT due.*, row_number() OVER (
               PARTITION BY account_id, is_test, newest_first ORDER BY next_attempt_at) AS place
      FROM due
), turns AS (
    SELECT ranked.id, account_id, next_attempt_at, is_abandoned, in_doubt, newest_first,
           coalesce(held, 0) AS held,
           CASE WHEN is_test THEN 0
                WHEN newest_first
                THEN (coalesce(newest, 0) + place) * least(%(per_host)s - 1, {OLD_FOR_NEW})
                ELSE coalesce(held - newest - tests, 0) + place END AS turn
      FROM ranked LEFT JOIN holding USING (account_id)
), placed AS (
    SELECT turns.*,
           row_number() OVER (PARTITION BY account_id
                              ORDER BY turn, newest_first DESC, next_attempt_at) AS place
      FROM turns
), picked AS (
    SELECT id, account_id, is_abandoned, in_doubt, newest_first
      FROM placed LEFT JOIN unnest(%(accounts)s::text[], %(bounds)s::int[])
           AS fewer (account_id, bound) USING (account_id)
     WHERE place <= coalesce(fewer.bound, %(each)s)
     ORDER BY held + place, next_attempt_at LIMIT %(most)s
)
"""  # noqa: S608
CLAIM = f"""
WITH {_LANES}, {_CANDIDATES}, claimed AS (
    UPDATE webhooks_delivery
       SET claim_id = %(claim_id)s,
           newest_first = id IN (SELECT id FROM picked WHERE newest_first),
           next_attempt_at = statement_timestamp() + make_interval(secs => %(lease)s)
     WHERE (id, account_id) IN (SELECT id, account_id FROM picked)
       AND state = 'waiting' AND next_attempt_at <= statement_timestamp()
    RETURNING id, account_id, host, url, body, failed_attempts, is_manual, traceparent,
              call_id, event = %(test_event)s AS is_test
), closed AS (
    UPDATE webhooks_attempt SET finished_at = statement_timestamp(), error = %(interrupted)s
     WHERE finished_at IS NULL AND (delivery_id, account_id) IN (
        SELECT id, claimed.account_id FROM claimed JOIN picked USING (id) WHERE is_abandoned)
), begun AS (
    INSERT INTO webhooks_attempt (id, account_id, delivery_id, is_manual, started_at, error)
    SELECT {owned_id_sql("account_id")}, account_id, id, is_manual, statement_timestamp(), ''
      FROM claimed
    RETURNING id, delivery_id
)
SELECT claimed.id, begun.id, claimed.account_id, claimed.host, claimed.url, claimed.body,
       claimed.failed_attempts, in_doubt OR is_abandoned, claimed.is_test, claimed.traceparent,
       claimed.call_id
  FROM claimed JOIN picked ON picked.id = claimed.id
  JOIN begun ON begun.delivery_id = claimed.id
"""  # noqa: S608
