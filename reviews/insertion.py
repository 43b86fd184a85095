"""A new request and whom to tell of it, in one statement."""

from typing import Any

from django.db import connection

from reviews.models import Request
from reviews.notifications.outbox import OBLIGE, Job, obligation, read_jobs

_FIELDS = [field for field in Request._meta.concrete_fields if not field.generated]
_INSERT = f"""
WITH made AS (
    INSERT INTO reviews_request ({", ".join(field.column for field in _FIELDS)})
    VALUES ({", ".join(f"%({field.column})s" for field in _FIELDS)})
    RETURNING id, loop_id, priority
), {OBLIGE}
SELECT jobs FROM pushes
"""  # noqa: S608 (nothing in it comes from outside)


def insert(request: Request) -> list[Job]:
    """Returns the pushes to its loop's devices, leased to this process: to be sent as soon as
    the transaction is committed. Raises IntegrityError where the id is taken."""
    told = obligation()
    row: dict[str, Any] = {
        field.column: field.get_db_prep_save(getattr(request, field.attname), connection)
        for field in _FIELDS
    }
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, {**row, **told})
        (jobs,) = cursor.fetchone()
    return read_jobs(jobs, request, claim_id=told["push_claim"])
