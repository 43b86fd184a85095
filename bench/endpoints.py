"""Measures what webhook endpoints cost that want no event of a create.

The same accounts create requests with five such endpoints and without any, in turns."""

import itertools
import statistics
from dataclasses import dataclass

import psycopg

from bench.api import BODY
from bench.cast import Cast
from bench.outcome import Goal, Part, table
from bench.serving import Load, Web, cpu_of, post

ROUNDS, SECONDS = 12, 2.0
LEAST = 0.95
_WITH = """
INSERT INTO accounts_webhookendpoint (id, account_id, slot, url, events, loop_ids, is_on, sealed,
       issued)
SELECT lpad(to_hex(row_number() OVER ()), 21, '0') || right(account_id, 3), account_id, slot,
       'https://receiver.example/', ARRAY['request.created'], ARRAY[repeat('0', 24)], true, '', true
  FROM (SELECT DISTINCT creator_id AS account_id FROM loops_loop WHERE id = ANY (%s)) AS owner
 CROSS JOIN generate_series(1, 5) AS slot
"""
_WITHOUT = "DELETE FROM accounts_webhookendpoint"


@dataclass(frozen=True)
class Turn:
    """The creates per second, and the milliseconds of CPU of one: web server and database."""

    rate: float
    cpu: float


def measure(service: Web, cast: Cast, load: Load, postmaster: int, database: str) -> Part:
    """Returns both rates, their ratio, and the ratio by CPU."""
    requests = [
        post(f"/v1/api/loops/{cast.loops[number]}/requests", key, BODY)
        for number, keys in enumerate(cast.keys)
        for key in keys
    ]

    def turn(*, has_endpoints: bool) -> Turn:
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute(_WITHOUT)
            if has_endpoints:
                connection.execute(_WITH, [cast.loops])
        load.fire(service.port, requests, seconds=0.3)
        before = service.cpu() + cpu_of(postmaster)
        volley = load.fire(service.port, requests, seconds=SECONDS)
        cpu = service.cpu() + cpu_of(postmaster) - before
        return Turn(volley.rate, 1000 * cpu / volley.calls)

    load.fire(service.port, requests, seconds=1.0)
    pairs: list[dict[bool, Turn]] = []
    for _, first in zip(range(ROUNDS), itertools.cycle((True, False)), strict=False):
        pairs.append({kind: turn(has_endpoints=kind) for kind in (first, not first)})
    ratio = statistics.median(pair[True].rate / pair[False].rate for pair in pairs)
    by_cpu = statistics.median(pair[False].cpu / pair[True].cpu for pair in pairs)
    rows = []
    for kind, name in ((False, "no endpoint"), (True, "five, none of which wants it")):
        rate = statistics.median(pair[kind].rate for pair in pairs)
        cpu = statistics.median(pair[kind].cpu for pair in pairs)
        ratios = [f"{ratio:.3f}", f"{by_cpu:.3f}"] if kind else ["", ""]
        rows.append([name, f"{rate:,.0f}", f"{cpu:.2f}", *ratios])
    head = ["webhook endpoints", "creates/s", "CPU ms per create", "ratio", "by CPU"]
    goal = Goal("create with five endpoints that want none, by CPU", LEAST, None, by_cpu)
    return Part({"endpoints": table(head, rows)}, [goal])
