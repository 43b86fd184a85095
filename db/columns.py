"""Columns that more than one app uses."""

import json
from typing import Any

from django.db import models
from django.db.models.functions import Right
from django.db.models.lookups import Exact
from psycopg.types.json import Json

from db.ids import BUCKET, new_id, owned_id


class LookupField(models.CharField):  # type: ignore[type-arg]
    """A string that is only ever looked up whole.

    Django gives an indexed `varchar` a second index for LIKE, and every foreign key to it too;
    the same type under its long name gets one.
    """

    def db_type(self, connection: Any) -> str:
        return f"character varying({self.max_length})"


class OwnedIdField(LookupField):
    """A public identifier as primary key, in the bucket of the account that owns the row.

    `owner` is the column that names the account. A row that comes without an id gets one when
    it is inserted.
    """

    empty_strings_allowed = False  # no id yet is None

    def __init__(self, *, owner: str, **options: Any) -> None:
        self.owner = owner
        super().__init__(**{**options, "max_length": 24, "primary_key": True, "editable": False})

    def deconstruct(self) -> Any:
        name, path, args, kwargs = super().deconstruct()
        for fixed in ("max_length", "primary_key", "editable"):
            del kwargs[fixed]
        return name, path, args, {**kwargs, "owner": self.owner}

    def get_pk_value_on_save(self, instance: models.Model) -> str:
        return owned_id(getattr(instance, self.owner))


def account_id_field() -> "models.CharField[str, str]":
    """The id of an account, which begins a bucket of its own."""
    return LookupField(primary_key=True, max_length=24, default=new_id, editable=False)


def owned_id_field(owner: str) -> "models.CharField[str, str]":
    """The id of a row that the account in the column `owner` owns."""
    return OwnedIdField(owner=owner)


def in_bucket_of(owner: str, *, name: str) -> models.CheckConstraint:
    """The database refuses ids outside the bucket of the account in the column `owner`."""
    same = Exact(Right("id", BUCKET), Right(owner, BUCKET))
    return models.CheckConstraint(condition=same, name=name)


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
