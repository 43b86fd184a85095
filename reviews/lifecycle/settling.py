"""Settles what is due before somebody reads it, so that readers believe stored columns alone.

A deadline that has passed is no end: an answer that began in time may hold the row still, and its
commit may wait for a replica. So nobody computes an end. A reader's statement says whether
anything is due in its scope, which is rarely so; then what nobody holds is settled and committed,
and the statement runs again. What somebody holds shows as it is stored.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db import OperationalError, connection
from psycopg.errors import LockNotAvailable

from reviews.lifecycle import states, transitions
from reviews.lifecycle.conditions import lapsed, overdue

PATIENCE = 1000  # milliseconds for others who are settling the same rows
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Scope:
    """Some requests: `where` is an SQL condition on the row `r`, over `params`."""

    where: str
    params: Mapping[str, Any]

    @property
    def is_due(self) -> str:
        """SQL: whether anything here is to be settled. Two looks into small indexes."""
        some = f"EXISTS (SELECT FROM reviews_request r WHERE {self.where} AND "
        return f"({some}{overdue()}) OR {some}{lapsed()}))"


def one(request_id: str) -> Scope:
    """The request with that id."""
    return Scope("r.id = %(settled)s", {"settled": request_id})


def of_account(account_id: str) -> Scope:
    """What the account created."""
    return Scope("r.creator_id = %(account)s", {"account": account_id})


def of_loops(loop_ids: list[str]) -> Scope:
    """What was sent to these loops."""
    return Scope("r.loop_id = ANY (%(loops)s)", {"loops": loop_ids})


def read_settled(scope: Scope, read: Callable[[], tuple[T, bool]]) -> T:
    """What `read` finds once everything in the scope is settled that nobody holds.

    `read` returns what it has found, and whether anything was due then.
    """
    found, is_due = read()
    if is_due:
        settle(scope)
        found, is_due = read()
    if is_due and wait_for_others():
        found, _ = read()
    return found


def settle_first(scope: Scope) -> None:
    """For a reader of several statements: the first of them. One statement where nothing is due."""

    def look() -> tuple[None, bool]:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {scope.is_due}", scope.params)
            (is_due,) = cursor.fetchone()
        return None, is_due

    read_settled(scope, look)


def settle(scope: Scope) -> None:
    """Times out and gives back what is due in the scope and held by nobody, batch by batch."""
    for transition in (states.TIME_OUT, states.LAPSE):
        due = transitions.due_in(transition, scope.where)
        while len(transitions.sweep(transition, due, **scope.params)) == transitions.BATCH:
            pass


def wait_for_others() -> bool:
    """Waits until those have committed who are settling at this moment, of whom one may hold what
    was due: that is no transition in time, and must not show as pending. False where there is no
    waiting: inside a transaction, or for longer than PATIENCE.
    """
    if connection.in_atomic_block:
        return False
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT set_config('lock_timeout', %s, true), pg_advisory_xact_lock(%s)",
                [str(PATIENCE), transitions.SETTLERS],
            )
    except OperationalError as error:
        if isinstance(error.__cause__, LockNotAvailable):
            return False
        raise
    return True
