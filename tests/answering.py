"""Answers of requests that a test has written or moved by hand."""

from importlib import import_module

from django.db import connection

FILL = import_module("reviews.migrations.0023_answers_of_before").FILL


def repeat_answers() -> None:
    """Gives each answered request the answer that its columns say, with their times."""
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM reviews_answer a USING reviews_request r"
            " WHERE r.id = a.request_id AND r.policy IS NULL"
        )
        cursor.execute(FILL, ["", "g"])
        cursor.execute("ANALYZE reviews_answer")
