"""Records for a request's creator who opened, skipped and claimed it (`reviews.queries.reach`).

An open page costs one statement, whose commit does not wait for the disk. If the database accepts
no writes or the request is locked, nothing is recorded and the page is shown.
"""

from collections.abc import Sequence

import structlog
from django.db import DatabaseError, connection

from db.outages import is_outage
from reviews.models import Request

_ADD = """
INSERT INTO reviews_viewer (request_id, person_id, account_id, opened_at, claimed_at)
SELECT {request}, %(person)s, %(account)s, statement_timestamp(), {claimed_at}
{source}
ON CONFLICT ON CONSTRAINT reviews_viewer_pkey DO {change}
"""
_SKIPPED = """
UPDATE reviews_viewer SET skipped_at = statement_timestamp()
 WHERE request_id = ANY (%(skipped)s::text[]) AND person_id = %(person)s AND skipped_at IS NULL
"""
_ADD_OPENED = _ADD.format(
    request="r.id",
    claimed_at="NULL::timestamptz",
    source="""  FROM reviews_request r
 WHERE r.id = %(request)s AND set_config('synchronous_commit', 'off', true) IS NOT NULL
   FOR KEY SHARE OF r SKIP LOCKED""",
    change="NOTHING",
)
_OPENED = f"WITH skipped AS ({_SKIPPED}) {_ADD_OPENED}"
_CLAIMED = _ADD.format(
    request="%(request)s",
    claimed_at="statement_timestamp()",
    source="",
    change="UPDATE SET claimed_at = excluded.claimed_at",
)
log = structlog.get_logger(__name__)


def record_opened(request: Request, person_id: str, *, skipped: Sequence[str] = ()) -> None:
    """Records that the person opened the request, and skipped these just before."""
    try:
        _execute(_OPENED, request, person_id, skipped)
    except DatabaseError as error:
        if not is_outage(error):
            raise
        log.warning("viewer.not_recorded", error=str(error))


def record_claimed(request: Request, person_id: str) -> None:
    """Records the person's last claim, in the transaction of the claim."""
    _execute(_CLAIMED, request, person_id)


def _execute(sql: str, request: Request, person_id: str, skipped: Sequence[str] = ()) -> None:
    params = {
        "request": request.pk,
        "account": request.creator_id,
        "person": person_id,
        "skipped": list(skipped),
    }
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
