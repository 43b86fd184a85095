"""Obligations by themselves, for tests of what is leased and was not sent."""

from django.db import connection, transaction

from reviews.models import Request
from reviews.notifications import outbox
from reviews.notifications.outbox import Job


def oblige(request: Request) -> list[Job]:
    """What the statement that creates a request does besides; nothing is sent."""
    params = outbox.obligation()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "WITH made AS (SELECT id, creator_id, loop_id, priority FROM reviews_request"
            " WHERE id = %(id)s)," + outbox.OBLIGE + "SELECT jobs FROM pushes",
            {"id": request.pk, **params},
        )
        jobs = cursor.fetchone()[0]
    return outbox.read_jobs(jobs, request, claim_id=params["push_claim"])
