"""JSON that PostgreSQL writes: whatever a column holds, the result can be read again."""

import json
from typing import Any

import pytest
from django.db import connection

from db.json_sql import Value, escaped, json_object, moment, raw, word

pytestmark = pytest.mark.django_db


def written(fields: dict[str, str | Value], **params: Any) -> dict[str, Any]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {json_object(fields)}", params)
        (text,) = cursor.fetchone()
    value: dict[str, Any] = json.loads(text)
    return value


@pytest.mark.parametrize("text", ["", "plain", '"', "\\", '","x":"', "a\nb\t\x01", "Größe ✓ 🎉"])
def test_a_column_that_declares_nothing_is_escaped(text: str) -> None:
    assert written({"a": "%(text)s::text", "b": "%(text)s::text"}, text=text) == {
        "a": text,
        "b": text,
    }


def test_a_column_that_declares_nothing_keeps_its_type() -> None:
    fields: dict[str, str | Value] = {
        "number": "1.50::numeric", "truth": "true", "stored": """'{"k": [1]}'::json""",
        "nothing": "NULL::text", "list": "ARRAY['a', '\"']",
    }  # fmt: skip
    assert written(fields) == {
        "number": 1.5, "truth": True, "stored": {"k": [1]}, "nothing": None, "list": ["a", '"'],
    }  # fmt: skip


def test_what_a_column_declares() -> None:
    fields: dict[str, str | Value] = {
        "word": word("'pending'::text"),
        "raw": raw("""'{"kept":  "as stored"}'::json"""),
        "number": raw("3"),
        "at": moment("'2026-05-04 10:31:12.8456+00'::timestamptz"),
        "never": moment("NULL::timestamptz"),
        "nested": raw(json_object({"text": escaped("'\"'::text")})),
        "none": word("NULL::text"),
    }
    assert written(fields) == {
        "word": "pending", "raw": {"kept": "as stored"}, "number": 3,
        "at": "2026-05-04T10:31:12.845Z", "never": None, "nested": {"text": '"'}, "none": None,
    }  # fmt: skip


def test_an_object_without_fields() -> None:
    with pytest.raises(ValueError, match="at least one field"):
        json_object({})
