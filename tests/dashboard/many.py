"""Creates many rows, for tests of what must not grow with them."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.db import connection

from db.ids import owned_id, owned_id_sql
from reviews.models import Request
from tests.answering import repeat_answers


def copies(request: Request, count: int, **changes: Any) -> list[Request]:
    """Requests like the given one, each a second older than the one before, numbered in words."""
    text = request.request_text
    return _insert(
        {
            **_fields(request),
            "id": owned_id(request.creator_id),
            "request_text": f"{text} copy{number}",
            "created_at": request.created_at - timedelta(seconds=number + 1),
            **changes,
        }
        for number in range(count)
    )


def older(request: Request, count: int, **changes: Any) -> None:
    """Requests like the given one but for `changes`."""
    fields = {
        field.attname: field for field in Request._meta.concrete_fields if not field.generated
    }
    values = {name: f'r."{field.column}"' for name, field in fields.items()}
    values["id"] = owned_id_sql("r.creator_id")
    values |= dict.fromkeys(changes, "%s")
    columns = ", ".join(f'"{field.column}"' for field in fields.values())
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO reviews_request ({columns}) SELECT {', '.join(values.values())}"
            " FROM reviews_request r, generate_series(1, %s) WHERE r.id = %s",
            [
                *(
                    fields[name].get_db_prep_save(changes[name], connection)
                    for name in fields
                    if name in changes
                ),
                count,
                request.pk,
            ],
        )
        cursor.execute("ANALYZE reviews_request")
    repeat_answers()


def _fields(request: Request) -> dict[str, Any]:
    fields = Request._meta.concrete_fields
    return {
        field.attname: getattr(request, field.attname) for field in fields if not field.generated
    }


def _insert(rows: Iterable[dict[str, Any]]) -> list[Request]:
    made = Request.objects.bulk_create((Request(**row) for row in rows), batch_size=1000)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE reviews_request")
    repeat_answers()
    return made
