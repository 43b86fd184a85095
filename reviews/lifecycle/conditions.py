"""Defines the conditions of a request at a time: open, in time, overdue, lapsed, held, free.

Each rule stands only here: in SQL on the row `r`, as a Q object for the ORM, and as a function on
values. Readers settle due requests (`reviews.lifecycle.settling`) and then trust the columns;
transitions check again after locking the row.
"""

from django.db.models import Case, F, Q, When
from django.db.models.functions import Now

from reviews.lifecycle import states

# The start of the statement. An index can serve it, but not clock_timestamp().
NOW = "statement_timestamp()"

OPEN = "r.status IN ('pending', 'claimed')"
# The planner uses the index `request_overdue` only for exactly this expression, and never for a
# list: its condition is that the expression is not null. Its statistics know that few rows are
# overdue; those of the column `timeout_at` also count finished requests.
DUE_AT = f"CASE WHEN {OPEN} THEN r.timeout_at END"

# When a request ended. The planner uses the indexes `request_with_texts` and
# `request_without_texts` only for exactly these expressions. ENDED is the same for the model.
FINAL = "r.status IN ('completed', 'timeout', 'cancelled')"
ENDED_AT = """CASE WHEN r.status = 'completed' THEN r.response_at
     WHEN r.status = 'timeout' THEN r.timeout_at ELSE r.updated_at END"""
ENDED = Case(
    When(status=states.COMPLETED, then=F("response_at")),
    When(status=states.TIMEOUT, then=F("timeout_at")),
    default=F("updated_at"),
)


def in_time(now: str = NOW) -> str:
    """Returns SQL: the deadline has not passed at `now`, an SQL expression."""
    return f"r.timeout_at > {now}"


def overdue(now: str = NOW) -> str:
    """Returns SQL: open with a passed deadline, so TIME_OUT is due."""
    return f"({OPEN} AND {DUE_AT} <= {now})"


def lapsed(now: str = NOW) -> str:
    """Returns SQL: claimed and in time with an expired lease, so LAPSE is due."""
    return f"(r.status = 'claimed' AND r.claim_expires_at <= {now} AND {in_time(now)})"


def held_by(person: str, now: str = NOW) -> str:
    """Returns SQL: claimed by `person` (an SQL expression) with a running lease."""
    return f"(r.status = 'claimed' AND r.claimed_by_id = {person} AND r.claim_expires_at > {now})"


def free_for(person: str) -> str:
    """Returns SQL: nobody but `person` holds the request, which is open and settled."""
    return f"(r.status = 'pending' OR r.claimed_by_id = {person})"


IS_DUE = Q(status__in=states.OPEN) & (
    Q(timeout_at__lte=Now()) | Q(status=states.CLAIMED, claim_expires_at__lte=Now())
)


def is_held_by(person_id: str) -> Q:
    """Returns `held_by` as a Q object, and in time."""
    running = Q(claim_expires_at__gt=Now(), timeout_at__gt=Now())
    return Q(status=states.CLAIMED, claimed_by_id=person_id) & running


def is_free_for(person_id: str, *, status: str, holder_id: str | None) -> bool:
    """Tells whether the person may answer: `free_for`, and open."""
    return status == states.PENDING or (status == states.CLAIMED and holder_id == person_id)
