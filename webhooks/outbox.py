"""SQL of the webhook outbox: claims due deliveries, records outcomes, gives claims back.

A claim is two statements (`webhooks.claim_sql`). The first finds up to LANES lanes, pairs of an
account and a host, with something due, and locks their accounts; workers that claim at the same
time take different ones, and each goes on from where it was. The second picks due deliveries: a few
for each lane, none where a circuit is open, one where it probes; accounts take turns, those with
the fewest under way first. It leases them under a fresh claim id, ends the attempt that a crashed
worker left open, and inserts each new attempt. Recording is one statement too, fenced by the claim
id: a worker that has lost its lease writes nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from psycopg.types.json import Json

from db.columns import dumps
from db.ids import new_id
from webhooks.claim_sql import AWAIT_ACCOUNT, CLAIM, LOCK_LANES
from webhooks.failing_hosts import NOTE_FAILURE, NOTE_SUCCESS
from webhooks.models import TEST_EVENT, Delivery

FAILURES_TO_OPEN = 5
MAX_PAUSE = 600
INTERRUPTED = "Interrupted: no result was recorded in time."
NO_EXCEPTIONS: Mapping[str, int] = MappingProxyType({})
LANES = 200  # looked at in one statement
Lane = tuple[str, str]
"""An account and a host."""
_CLAIMS_OF_AN_ACCOUNT = 0x5265766C  # an advisory lock of this database for each account
_RECORD = f"""
WITH fenced AS (
    UPDATE webhooks_delivery
       SET state = %(state)s, claim_id = NULL, is_manual = false,
           failed_attempts = failed_attempts + %(failed)s,
           delivered_at = CASE WHEN %(delivered)s THEN statement_timestamp() END,
           next_attempt_at = statement_timestamp() + make_interval(secs => %(delay)s)
     WHERE id = %(id)s AND account_id = %(account_id)s AND claim_id = %(claim_id)s
    RETURNING id
), circuit AS (
    INSERT INTO webhooks_circuit (account_id, host, failures, open_until)
    SELECT %(account_id)s, %(host)s, 1, NULL FROM fenced WHERE %(unreachable)s
    ON CONFLICT ON CONSTRAINT webhooks_circuit_pkey DO UPDATE SET
        failures = webhooks_circuit.failures + 1,
        open_until = CASE WHEN webhooks_circuit.failures + 1 >= %(to_open)s
            THEN statement_timestamp() + make_interval(secs => least(
                %(max_pause)s::float,
                %(pause)s::float * 2 ^ least(webhooks_circuit.failures + 1 - %(to_open)s, 20))) END
     WHERE webhooks_circuit.open_until IS NULL
        OR webhooks_circuit.open_until <= statement_timestamp()
), closed AS (
    DELETE FROM webhooks_circuit USING fenced
     WHERE account_id = %(account_id)s AND host = %(host)s AND %(responded)s
), failed AS ({NOTE_FAILURE}), succeeded AS ({NOTE_SUCCESS})
UPDATE webhooks_attempt
   SET finished_at = statement_timestamp(), status_code = %(status)s, error = %(error)s,
       request_headers = %(request_headers)s, response_headers = %(response_headers)s,
       response_body = %(response_body)s
  FROM fenced
 WHERE webhooks_attempt.id = %(attempt_id)s AND webhooks_attempt.account_id = %(account_id)s
"""  # noqa: S608

_GIVE_BACK = """
WITH fenced AS (
    UPDATE webhooks_delivery SET claim_id = NULL, next_attempt_at = statement_timestamp()
     WHERE id = %(id)s AND account_id = %(account_id)s AND claim_id = %(claim_id)s
    RETURNING id
)
DELETE FROM webhooks_attempt USING fenced
 WHERE webhooks_attempt.id = %(attempt_id)s AND webhooks_attempt.account_id = %(account_id)s
"""

# The event is no parameter, so that the index of waiting test events serves.
_TESTS = f"""
SELECT count(*) FROM webhooks_delivery
 WHERE account_id = %s AND state = 'waiting' AND event = '{TEST_EVENT}'
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class Item:
    """A claimed delivery: what to post and where, and the claim id that fences its record.

    `in_doubt` means that its host could not be reached the last time, that its last attempt was
    interrupted, or that it is a test event. Its attempt ends within the lease if it begins by
    `begin_by`, in seconds of `time.monotonic`.
    """

    delivery_id: str
    attempt_id: str
    claim_id: str
    account_id: str
    host: str
    url: str
    body: bytes
    failed_attempts: int
    in_doubt: bool = False
    is_test: bool = False
    traceparent: str | None = None
    call_id: str | None = None
    begin_by: float = 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended. `unreachable` counts for the circuit; any response closes it."""

    status: int | None = None
    error: str = ""
    unreachable: bool = False
    retry_after: float | None = None
    request_headers: dict[str, str] | None = None
    response_headers: dict[str, str] | None = None
    response_body: bytes | None = None


class Walk:
    """How far a dispatcher has come on its way through the lanes; its next claim goes on there."""

    def __init__(self) -> None:
        self.account, self.host = "", ""

    def pass_lanes(self, lanes: list[Lane], full: set[str]) -> None:
        """Goes behind these lanes, and behind all others of an account that may have no more."""
        account, self.host = lanes[-1]
        self.account = f"{account}~" if account in full else account

    def begin_again(self) -> None:
        """Goes back to the first lane."""
        self.account, self.host = "", ""


def claim_due(
    limit: int,
    *,
    per_account: int | None = None,
    exceptions: Mapping[str, int] = NO_EXCEPTIONS,
    walk: Walk | None = None,
) -> list[Item]:
    """Leases up to `limit` due deliveries and begins an attempt of each.

    An account gets at most `per_account` of them; one that `exceptions` names, that many. Goes on
    where `walk` has come to, from some lanes to the next, until there are enough or it has come
    round.
    """
    walk = walk or Walk()
    bounds = dict(exceptions)
    each = limit if per_account is None else per_account
    items: list[Item] = []
    is_on_its_way = bool(walk.account)
    while len(items) < limit:
        lanes, found = _claim_of_lanes(walk, limit - len(items), each, bounds)
        items += found
        for item in found:
            bounds[item.account_id] = bounds.get(item.account_id, each) - 1
        if len(lanes) == LANES:
            walk.pass_lanes(lanes, {name for name, bound in bounds.items() if bound <= 0})
            continue
        walk.begin_again()
        if not is_on_its_way:
            break
        is_on_its_way = False
    return items


@transaction.atomic
def _claim_of_lanes(
    walk: Walk, limit: int, each: int, bounds: dict[str, int]
) -> tuple[list[Lane], list[Item]]:
    """Claims of the next lanes with something due; returns those lanes, and the items.

    Claims of one account are made one after the other, so that no host gets more than its share.
    Lanes of accounts for which another worker claims just now are left to it.
    """
    claim_id = new_id()
    with connection.cursor() as cursor:
        lanes, mine = _lock_lanes(cursor, walk)
        if not mine:
            return lanes, []
        params: dict[str, Any] = {
            "claim_id": claim_id,
            "lease": float(settings.WEBHOOK_LEASE_SECONDS),
            "most": limit,
            "per_host": settings.WEBHOOK_PER_HOST,
            "to_open": FAILURES_TO_OPEN,
            "each": each,
            "accounts": list(bounds),
            "bounds": list(bounds.values()),
            "lane_accounts": [account for account, _ in mine],
            "lane_hosts": [host for _, host in mine],
            "test_event": TEST_EVENT,
            "interrupted": INTERRUPTED,
        }
        cursor.execute(CLAIM, params)
        return lanes, [
            Item(pk, attempt_id, claim_id, account_id, host, url, bytes(body), *others)
            for pk, attempt_id, account_id, host, url, body, *others in cursor.fetchall()
        ]


def _lock_lanes(cursor: CursorWrapper, walk: Walk) -> tuple[list[Lane], list[Lane]]:
    """Returns the next lanes with something due, and those of accounts that are locked for us.

    Waits for the first account if others claim for all of them.
    """
    params: dict[str, str | int] = {
        "after_account": walk.account,
        "after_host": walk.host,
        "lanes": LANES,
        "lock": _CLAIMS_OF_AN_ACCOUNT,
    }
    cursor.execute(LOCK_LANES, params)
    found = cursor.fetchall()
    if found and not any(is_locked for _, _, is_locked in found):
        cursor.execute(AWAIT_ACCOUNT, {"lock": _CLAIMS_OF_AN_ACCOUNT, "account": found[0][0]})
        cursor.execute(LOCK_LANES, params)
        found = cursor.fetchall()
    lanes = [(account, host) for account, host, _ in found]
    return lanes, [(account, host) for account, host, is_locked in found if is_locked]


def record(item: Item, outcome: Outcome, *, state: Delivery.State, delay: float = 0.0) -> bool:
    """Writes how an attempt ended, and the delivery's new state; `delay` is in seconds.

    A test event that fails opens no circuit; any response closes it. Returns False where the
    lease was lost: then nothing is written.
    """
    params: dict[str, Any] = {
        **_fence(item),
        "host": item.host,
        "state": state.value,
        "delivered": state == Delivery.State.DELIVERED,
        "failed": 0 if state == Delivery.State.DELIVERED else 1,
        "delay": delay,
        "unreachable": outcome.unreachable and not item.is_test,
        "responded": outcome.status is not None,
        "counts": not item.is_test,
        "to_open": FAILURES_TO_OPEN,
        "pause": float(settings.WEBHOOK_PAUSE_SECONDS),
        "max_pause": MAX_PAUSE,
        "status": outcome.status,
        "error": outcome.error,
        "request_headers": as_json(outcome.request_headers),
        "response_headers": as_json(outcome.response_headers),
        "response_body": outcome.response_body,
    }
    with connection.cursor() as cursor:
        cursor.execute(_RECORD, params)
        return bool(cursor.rowcount)


def give_back(item: Item) -> None:
    """Undoes a claim whose attempt was never begun: the delivery is due again at once."""
    with connection.cursor() as cursor:
        cursor.execute(_GIVE_BACK, _fence(item))


def count_tests(account_id: str) -> int:
    """How many test events of the account wait, or are under way."""
    with connection.cursor() as cursor:
        cursor.execute(_TESTS, [account_id])
        return int(cursor.fetchone()[0])


def _fence(item: Item) -> dict[str, Any]:
    """The parameters that find an item while its claim holds."""
    return {
        "id": item.delivery_id,
        "account_id": item.account_id,
        "claim_id": item.claim_id,
        "attempt_id": item.attempt_id,
    }


def as_json(value: dict[str, str] | None) -> Json | None:
    """The parameter for a JSON column."""
    return None if value is None else Json(value, dumps=dumps)
