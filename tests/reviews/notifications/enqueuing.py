"""Enqueues the notifications of a request without sending any."""

from django.db import connection, transaction

from loops.services import AUDIENCE
from outbox.items import Item
from reviews.models import Request
from reviews.notifications import enqueue
from reviews.notifications.push.channel import Push


def enqueue_for(request: Request) -> list[Item[Push]]:
    """What the statement that creates a request does besides."""
    params = enqueue.parameters()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            f"WITH {AUDIENCE}, made AS (SELECT id, creator_id, loop_id, priority"
            f" FROM reviews_request WHERE id = %(id)s), {enqueue.ENQUEUE} SELECT items FROM pushes",
            {"id": request.pk, "loop_id": request.loop_id, "but": None, **params},
        )
        rows = cursor.fetchone()[0]
    return enqueue.read_items(rows, request, claim_id=params["push_claim"])
