"""Saves the changes of transitions, for any number of requests in one statement."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from django.db import connection
from django.db.models import Field, JSONField

from reviews.models import Request

FIELDS: tuple["Field[Any, Any]", ...] = tuple(Request._meta.concrete_fields)
COLUMNS = tuple(field.attname for field in FIELDS)


def update_all(requests: Sequence[Request]) -> None:
    """Updates the columns that were changed in any of the requests, which were read by `lock`.

    50 take 2 ms; Django's `bulk_update` takes 57 ms.
    """
    changed = tuple(
        field
        for place, field in enumerate(FIELDS)
        if any(getattr(each, field.attname) is not each.stored[place] for each in requests)
    )
    if changed:
        values = [_read_column(field, requests) for field in (Request._meta.pk, *changed)]
        with connection.cursor() as cursor:
            cursor.execute(_build_statement(changed), values)


def _read_column(field: "Field[Any, Any]", requests: Sequence[Request]) -> list[Any]:
    """Returns the values of a column. Only those of JSON need Django's adaption, which is slow."""
    values = [getattr(each, field.attname) for each in requests]
    if isinstance(field, JSONField):
        return [field.get_db_prep_save(value, connection) for value in values]
    return values


@cache
def _build_statement(changed: tuple["Field[Any, Any]", ...]) -> str:
    fields = (Request._meta.pk, *changed)
    types = ", ".join(f"%s::{field.db_type(connection)}[]" for field in fields)
    assignments = ", ".join(f"{field.attname} = moved.{field.attname}" for field in changed)
    return f"""
UPDATE reviews_request AS r SET {assignments}
  FROM unnest({types}) AS moved ({", ".join(field.attname for field in fields)})
 WHERE r.id = moved.id"""  # noqa: S608 (nothing in it comes from outside)
