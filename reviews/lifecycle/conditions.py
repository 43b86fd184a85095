"""What a request is at a moment: open, in time, overdue, held, free for somebody.

Each rule stands here and nowhere else: in SQL about the row `r`, as a Q object where the ORM asks,
and as a function where a row is in hand. Readers settle what is due
(`reviews.lifecycle.settling`) and then believe the columns; transitions ask again once they hold
the row.
"""

from django.db.models import Q
from django.db.models.functions import Now

from reviews.lifecycle import states

# The start of the statement: it may enter an index, which clock_timestamp() may not.
NOW = "statement_timestamp()"

OPEN = "r.status IN ('pending', 'claimed')"
# The index `request_due` is found in these words alone. Its statistics know that few rows are
# overdue; those of the column `timeout_at` count the finished ones too.
DUE_AT = f"CASE WHEN {OPEN} THEN r.timeout_at END"


def in_time(now: str = NOW) -> str:
    """The deadline has not passed at `now`, an SQL expression."""
    return f"r.timeout_at > {now}"


def overdue(now: str = NOW) -> str:
    """Open, though the deadline has passed: to be timed out."""
    return f"({OPEN} AND {DUE_AT} <= {now})"


def lapsed(now: str = NOW) -> str:
    """Claimed, though the lease has run out, and in time: to be given back."""
    return f"(r.status = 'claimed' AND r.claim_expires_at <= {now} AND {in_time(now)})"


def held_by(person: str, now: str = NOW) -> str:
    """Claimed by the person, whose lease runs still; `person` is an SQL expression."""
    return f"(r.status = 'claimed' AND r.claimed_by_id = {person} AND r.claim_expires_at > {now})"


def free_for(person: str) -> str:
    """Of an open and settled request: nobody else holds it."""
    return f"(r.status = 'pending' OR r.claimed_by_id = {person})"


IS_DUE = Q(status__in=states.OPEN) & (
    Q(timeout_at__lte=Now()) | Q(status=states.CLAIMED, claim_expires_at__lte=Now())
)


def is_held_by(person_id: str) -> Q:
    """`held_by`, and in time."""
    running = Q(claim_expires_at__gt=Now(), timeout_at__gt=Now())
    return Q(status=states.CLAIMED, claimed_by_id=person_id) & running


def is_free_for(person_id: str, *, status: str, holder_id: str | None) -> bool:
    """`free_for`, and open: whether an answer of this person would get through."""
    return status == states.PENDING or (status == states.CLAIMED and holder_id == person_id)
