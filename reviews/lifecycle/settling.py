"""Settles due requests before they are read, so that readers trust the stored columns.

To settle is to run a due TIME_OUT or LAPSE. A passed deadline alone does not end a request: an
answer that began in time may still lock the row, and its commit may wait for a replica. So
readers never compute the end. A reader's statement tells whether anything in its scope is due,
which is rare. Then due requests that nobody has locked are settled and committed, and the
statement runs again. Locked requests are shown as they are stored.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db import OperationalError, connection
from psycopg.errors import LockNotAvailable

from reviews.lifecycle import transitions
from reviews.lifecycle.conditions import lapsed, overdue

LOCK_TIMEOUT = 1000  # milliseconds to wait for other processes that settle the same rows
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Scope:
    """A set of requests: `where` is an SQL condition on the row `r`, over `params`."""

    where: str
    params: Mapping[str, Any]

    @property
    def is_due(self) -> str:
        """SQL that tells whether anything in the scope is due. It reads two small indexes."""
        some = f"EXISTS (SELECT FROM reviews_request r WHERE {self.where} AND "
        return f"({some}{overdue()}) OR {some}{lapsed()}))"


def scope_to_request(request_id: str) -> Scope:
    """Returns the scope of one request."""
    return Scope("r.id = %(settled)s", {"settled": request_id})


def scope_to_account(account_id: str) -> Scope:
    """Returns the scope of the requests that the account created."""
    return Scope("r.creator_id = %(account)s", {"account": account_id})


def scope_to_loops(loop_ids: list[str]) -> Scope:
    """Returns the scope of the requests sent to these loops."""
    return Scope("r.loop_id = ANY (%(loops)s)", {"loops": loop_ids})


def read_settled(scope: Scope, read: Callable[[], tuple[T, bool]]) -> T:
    """Returns the result of `read`, with every due request of the scope settled unless locked.

    `read` returns its result and whether anything was due.
    """
    result, is_due = read()
    if is_due:
        settle(scope)
        result, is_due = read()
    if is_due and wait_for_others():
        result, _ = read()
    return result


def settle_first(scope: Scope) -> None:
    """Settles the scope before a read of several statements. One statement if nothing is due."""
    read_settled(scope, lambda: (None, has_due(scope)))


def settle_unlocked(scope: Scope) -> None:
    """Settles the scope without waiting for anybody. One statement if nothing is due."""
    if has_due(scope):
        settle(scope)


def has_due(scope: Scope) -> bool:
    """Tells whether a request of the scope is due."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {scope.is_due}", scope.params)
        (is_due,) = cursor.fetchone()
    return bool(is_due)


def settle(scope: Scope) -> None:
    """Runs every due TIME_OUT and LAPSE in the scope, in batches, skipping locked rows."""
    for settle_batch in (transitions.time_out, transitions.lapse):
        while settle_batch(scope.where, **scope.params) == transitions.BATCH:
            pass


def wait_for_others() -> bool:
    """Waits until every process that is settling now has committed.

    One of them may have locked what was due, and a request that is being timed out must not show
    as pending. Returns False without waiting inside a transaction, and after LOCK_TIMEOUT.
    """
    if connection.in_atomic_block:
        return False
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT set_config('lock_timeout', %s, true), pg_advisory_xact_lock(%s)",
                [str(LOCK_TIMEOUT), transitions.SETTLERS],
            )
    except OperationalError as error:
        if isinstance(error.__cause__, LockNotAvailable):
            return False
        raise
    return True
