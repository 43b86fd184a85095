"""Model fields and constraints that several apps share."""

import json
from typing import Any

from django.db import models
from django.db.models.functions import Right
from django.db.models.lookups import Exact
from psycopg.types.json import Json

from db.ids import BUCKET, new_id, owned_id


class LookupField(models.CharField):  # type: ignore[type-arg]
    """Stores a string that queries compare only as a whole.

    Django adds a second index, for LIKE, to an indexed `varchar` and to every foreign key that
    points to it. It does not do so when the type has its long name.
    """

    def db_type(self, connection: Any) -> str:
        return f"character varying({self.max_length})"


class OwnedIdField(LookupField):
    """Stores a public id as primary key, in the bucket of the account that owns the row.

    `owner` is the column with the account's id. A row without an id gets one on insert.
    """

    empty_strings_allowed = False  # a missing id is None

    def __init__(self, *, owner: str, **options: Any) -> None:
        self.owner = owner
        super().__init__(**{**options, "max_length": 24, "primary_key": True, "editable": False})

    def deconstruct(self) -> Any:
        name, path, args, kwargs = super().deconstruct()
        for option in ("max_length", "primary_key", "editable"):
            del kwargs[option]
        return name, path, args, {**kwargs, "owner": self.owner}

    def get_pk_value_on_save(self, instance: models.Model) -> str:
        return owned_id(getattr(instance, self.owner))


def account_id_field() -> "models.CharField[str, str]":
    """Returns the primary key field of accounts; each account id defines a bucket."""
    return LookupField(primary_key=True, max_length=24, default=new_id, editable=False)


def owned_id_field(owner: str) -> "models.CharField[str, str]":
    """Returns the primary key field of rows owned by the account in the column `owner`."""
    return OwnedIdField(owner=owner)


def bucket_constraint(owner: str, *, name: str) -> models.CheckConstraint:
    """Returns a constraint that keeps ids in the bucket of the account in the column `owner`."""
    same_bucket = Exact(Right("id", BUCKET), Right(owner, BUCKET))
    return models.CheckConstraint(condition=same_bucket, name=name)


class TransactionIdField(models.Field):  # type: ignore[type-arg]
    """Stores a transaction id of PostgreSQL, as returned by pg_current_xact_id()."""

    def db_type(self, connection: Any) -> str:
        return "xid8"


class ExactJSONField(models.JSONField):
    """Stores JSON and returns it exactly as it was sent.

    The column is `json`. `jsonb` would reorder keys and rewrite numbers (1e308 would become an
    integer of 309 digits). No query looks inside the JSON.
    """

    def db_type(self, connection: Any) -> str:
        return "json"

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        return value if value is None or hasattr(value, "as_sql") else Json(value, dumps=dumps)

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        return value  # psycopg has already parsed it


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def dumps(value: Any) -> str:
    """Writes compact JSON in UTF-8."""
    return _ENCODER.encode(value)
