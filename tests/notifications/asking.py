"""TEMPORARY: create with its obligation, until reviews.services does it."""

from django.db import connection, transaction

from reviews.models import Request
from reviews.notifications import outbox
from reviews.notifications.message import about_request
from reviews.notifications.outbox import Job


def oblige(request: Request) -> list[Job]:
    params = outbox.obligation()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "WITH made AS (SELECT id, loop_id, priority FROM reviews_request WHERE id = %(id)s),"
            + outbox.OBLIGE
            + "SELECT jobs FROM pushes",
            {"id": request.pk, **params},
        )
        jobs = cursor.fetchone()[0]
    message = about_request(
        request_id=request.pk,
        loop_name=request.loop.name,
        text=request.request_text,
        priority=request.priority,
        seconds_left=request.timeout_seconds,
    )
    return outbox.read_jobs(jobs, message, claim_id=params["push_claim"])
