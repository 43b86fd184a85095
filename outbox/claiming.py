"""Claims due rows of any channel: leases them under a fresh claim id.

Claims of a channel are made one after the other, over all processes, so that no lane gets more than
its share. A claim looks at up to LANES lanes, and finds each by index, however many rows wait in
it. The next claim continues with the lanes that follow (round robin). Of each lane it takes the
oldest rows. Accounts with the fewest rows under way come first.
"""

import functools
from dataclasses import dataclass, field
from typing import Any, Generic

from django.db import connection, transaction

from db.ids import new_id
from outbox.channel import ONE_LANE, Channel
from outbox.items import Bounds, C, Claimed, Item

LANES = 500
Lane = tuple[str, str]
"""An account, and the name of one of its lanes."""
FIRST: Lane = ("", "")
# A worker that is paused in the middle of its claim holds up the others for no longer.
_ONE_AT_A_TIME = """
SELECT set_config('idle_in_transaction_session_timeout', '5s', true),
       pg_advisory_xact_lock(%(lock)s, hashtext(%(channel)s))
"""
_LOCK = 0x5265766C  # an advisory lock of this database for each channel
_LANES = """
WITH RECURSIVE lanes AS (
    (SELECT {account} AS account, {lane} AS lane, next_attempt_at AS since, 1 AS number
       FROM {table} WHERE {waiting} {start} ORDER BY 1, 2, 3 LIMIT 1)
    UNION ALL
    SELECT following.*, lanes.number + 1 FROM lanes CROSS JOIN LATERAL (
        SELECT {account} AS account, {lane} AS lane, next_attempt_at
          FROM {table} WHERE {waiting} AND {place} > {last}
         ORDER BY 1, 2, 3 LIMIT 1) AS following {end}
)"""
_CLAIM = """, busy AS (
    SELECT {account} AS account, {lane} AS lane, count(*) AS n FROM {table}
     WHERE claim_id IS NOT NULL AND next_attempt_at > statement_timestamp() AND {waiting}
     GROUP BY 1, 2
), due AS (
    SELECT oldest.*, account, lane, {is_suspect} OR was_claimed AS is_suspect,
           row_number() OVER (PARTITION BY account, lane ORDER BY next_attempt_at) AS place
      FROM lanes LEFT JOIN busy USING (account, lane) {joins} CROSS JOIN LATERAL (
        SELECT id, next_attempt_at, claim_id IS NOT NULL AS was_claimed FROM {table}
         WHERE {account} = lanes.account AND {lane} = lanes.lane AND {waiting}
           AND next_attempt_at <= statement_timestamp() ORDER BY next_attempt_at
         LIMIT greatest(least({per_lane} - coalesce(busy.n, 0), %(limit)s), 0)) AS oldest
     WHERE since <= statement_timestamp() AND {is_open}
       AND account <> ALL (%(full_accounts)s::text[]) AND lane <> ALL (%(full_lanes)s::text[])
), ranked AS (
    SELECT due.*, coalesce(held, 0) AS held,
           row_number() OVER (PARTITION BY account ORDER BY place, next_attempt_at) AS in_account,
           row_number() OVER (PARTITION BY lane ORDER BY place, next_attempt_at) AS in_lane
      FROM due LEFT JOIN (
        SELECT account, sum(n) AS held FROM busy GROUP BY account) AS each USING (account)
), shared AS (
    SELECT id, account, lane, is_suspect, held + in_account AS turn, next_attempt_at AS since,
           row_number() OVER (PARTITION BY is_suspect
                              ORDER BY held + in_account, next_attempt_at) AS in_kind
      FROM ranked
     WHERE in_account <= %(share)s AND in_lane <= %(lane_share)s
), picked AS (
    SELECT id, account, lane, is_suspect, turn, since FROM shared
     WHERE NOT is_suspect OR in_kind <= %(suspects)s
     ORDER BY turn, since LIMIT %(limit)s
), locked AS (
    SELECT entry.id, picked.account, picked.lane, picked.is_suspect, turn,
           entry.next_attempt_at AS since
      FROM {table} AS entry JOIN picked ON {together}
     WHERE {waiting} AND entry.next_attempt_at <= statement_timestamp()
       FOR UPDATE OF entry SKIP LOCKED
), claimed AS (
    UPDATE {table} AS entry SET claim_id = %(claim_id)s::text,
           next_attempt_at = statement_timestamp() + make_interval(secs => %(lease)s::float)
      FROM locked WHERE entry.id = locked.id
    RETURNING entry.id, locked.account, locked.lane, failed_attempts, is_suspect, turn, since
)
SELECT number, last.account, last.lane,
       claimed.id, claimed.account, claimed.lane, failed_attempts, is_suspect
  FROM (SELECT * FROM lanes ORDER BY number DESC LIMIT 1) AS last LEFT JOIN claimed ON true
 ORDER BY turn, claimed.since
"""


@dataclass(frozen=True, slots=True)
class Claim(Generic[C]):
    """The items of a claim, how many rows it took, and the lane where the next claim starts."""

    items: list[Item[C]] = field(default_factory=list)
    rows: int = 0
    following: Lane = FIRST


@transaction.atomic
def claim(channel: Channel[C], bounds: Bounds, *, start: Lane = FIRST) -> Claim[C]:
    """Claims due rows of the lanes from `start` on, and loads them."""
    claim_id = new_id()
    params: dict[str, Any] = {
        "claim_id": claim_id,
        "lease": channel.lease,
        "limit": bounds.limit,
        "share": bounds.share,
        "lane_share": bounds.lane_share,
        "suspects": bounds.suspects,
        "full_accounts": list(bounds.full_accounts),
        "full_lanes": list(bounds.full_lanes),
        "start_account": start[0],
        "start_lane": start[1],
        "lanes": LANES,
        **channel.claim_params(),
    }
    with connection.cursor() as cursor:
        cursor.execute(_ONE_AT_A_TIME, {"lock": _LOCK, "channel": channel.name})
        cursor.execute(claim_sql(channel), params)
        rows = cursor.fetchall()
    if not rows:
        return Claim()
    number, account, lane, *_ = rows[0]
    following = (account, lane) if number == LANES else FIRST
    claimed = [Claimed(claim_id, *row) for _, _, _, *row in rows if row[0]]
    items = channel.load(claimed) if claimed else []
    return Claim(items, len(claimed), following)


@functools.cache
def claim_sql(channel: Channel[Any]) -> str:
    """Builds the one statement of a claim."""
    start = "AND {place} >= {first}".format(**_compare(channel))
    lanes = _fill(_LANES, channel, start=start, end="WHERE lanes.number < %(lanes)s")
    return lanes + _fill(_CLAIM, channel)


def any_due(channel: Channel[Any]) -> str:
    """Builds the condition that a row of the channel is due, for `db.sweeps`."""
    lanes = _fill(_LANES, channel, start="", end="")
    return (
        f"EXISTS ({lanes} SELECT FROM lanes {channel.joins}"
        f" WHERE since <= statement_timestamp() AND {channel.is_open})"
    )


def _fill(template: str, channel: Channel[Any], **others: str) -> str:
    names = ("account", "lane", "table", "waiting", "joins", "is_open", "is_suspect", "per_lane",
             "together")  # fmt: skip
    values = {name: getattr(channel, name) for name in names}
    return template.format(**values, **_compare(channel), **others)


def _compare(channel: Channel[Any]) -> dict[str, str]:
    """What is compared to go from lane to lane. An index serves no constant."""
    if channel.lane == ONE_LANE:
        return {"place": channel.account, "first": "%(start_account)s", "last": "lanes.account"}
    return {
        "place": f"({channel.account}, {channel.lane})",
        "first": "(%(start_account)s, %(start_lane)s)",
        "last": "(lanes.account, lanes.lane)",
    }
