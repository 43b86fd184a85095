"""Columns that more than one app uses."""

import json
from typing import Any

from django.db import models
from psycopg.types.json import Json

from db.ids import new_id


class LookupField(models.CharField):  # type: ignore[type-arg]
    """A string that is only ever looked up whole.

    Django gives an indexed `varchar` a second index for LIKE, and every foreign key to it too;
    the same type under its long name gets one.
    """

    def db_type(self, connection: Any) -> str:
        return f"character varying({self.max_length})"


def id_field() -> "models.CharField[str, str]":
    """A public identifier as primary key."""
    return LookupField(primary_key=True, max_length=24, default=new_id, editable=False)


class ExactJSONField(models.JSONField):
    """JSON that comes back as it was sent.

    The column is `json`, not `jsonb`, which would reorder keys and rewrite numbers (1e308
    would return as an integer of 309 digits). Nothing is ever queried inside.
    """

    def db_type(self, connection: Any) -> str:
        return "json"

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        return value if value is None or hasattr(value, "as_sql") else Json(value, dumps=dumps)

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        return value  # psycopg has parsed it


def dumps(value: Any) -> str:
    """Compact JSON in UTF-8."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
