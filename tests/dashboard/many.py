"""Many rows at once, for what must not grow with them."""

from datetime import timedelta
from typing import Any

from django.db import connection

from config.ids import new_id
from reviews.models import Request


def copies(request: Request, count: int, **changes: Any) -> list[Request]:
    """Requests like the given one, each a second older than the one before, numbered in words."""
    fields = {
        field.attname: getattr(request, field.attname)
        for field in Request._meta.concrete_fields
        if not field.generated
    }
    text = changes.pop("request_text", request.request_text)
    made = Request.objects.bulk_create(
        Request(
            **fields
            | {
                "id": new_id(),
                "request_text": f"{text} copy{number}",
                "created_at": request.created_at - timedelta(seconds=number + 1),
            }
            | changes
        )
        for number in range(count)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE reviews_request")
    return made
