"""Migration operations for tables in use, which block neither reads nor writes.

They run outside a transaction (`atomic = False` in the migration), and can run again after an
interruption.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import idna
from django.contrib.postgres.operations import (
    AddIndexConcurrently,
    NotInTransactionMixin,
    RemoveIndexConcurrently,
)
from django.db import IntegrityError
from django.db.migrations.operations import AddConstraint
from django.db.migrations.operations.base import Operation
from django.db.transaction import atomic

_STATE = """
SELECT i.indisvalid FROM pg_index i
 WHERE i.indexrelid = to_regclass(quote_ident(current_schema()) || '.' || quote_ident(%s))
"""


class AddIndexWhileInUse(AddIndexConcurrently):
    """Adds an index while the table is read and written; does nothing if it is there.

    Replaces the invalid index of an interrupted attempt. Waits for running transactions without a
    limit, but holds no blocking lock meanwhile.
    """

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        with making(self.index.name, schema_editor) as is_missing:
            if is_missing:
                super().database_forwards(app_label, schema_editor, from_state, to_state)


class AddUniqueWhileInUse(NotInTransactionMixin, AddConstraint):
    """Adds a UniqueConstraint that is an index, as AddIndexWhileInUse adds an index."""

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        self._ensure_not_in_transaction(schema_editor)
        model = to_state.apps.get_model(app_label, self.model_name)
        statement = str(self.constraint.create_sql(model, schema_editor))
        with making(self.constraint.name, schema_editor) as is_missing:
            if is_missing:
                schema_editor.execute(statement.replace(" INDEX ", " INDEX CONCURRENTLY ", 1))


class RemoveIndexWhileInUse(RemoveIndexConcurrently):
    """Removes an index while the table is read and written; does nothing if it is gone."""

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        with without_limits(schema_editor.connection):
            super().database_forwards(app_label, schema_editor, from_state, to_state)


class AddFields(Operation):
    """Adds fields to a table in use, one statement after the other.

    As operations of their own they would keep everybody from the table while Django makes its
    models anew between them, which takes long on a busy machine.
    """

    reversible = True

    def __init__(self, model_name: str, **fields: Any) -> None:
        self.model_name = model_name
        self.fields = fields

    def state_forwards(self, app_label: str, state: Any) -> None:
        for name, field in self.fields.items():
            state.add_field(app_label, self.model_name, name, field, preserve_default=True)

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        before, after = (
            state.apps.get_model(app_label, self.model_name) for state in (from_state, to_state)
        )
        for name in self.fields:
            schema_editor.add_field(before, after._meta.get_field(name))

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        model = from_state.apps.get_model(app_label, self.model_name)
        for name in reversed(self.fields):
            schema_editor.remove_field(model, model._meta.get_field(name))

    def describe(self) -> str:
        return f"Adds {', '.join(self.fields)} to {self.model_name}"


class FillInBatches(NotInTransactionMixin, Operation):
    """Runs a statement until it finds no more rows; each run is a transaction of its own.

    Each run changes a few thousand rows and finds the remaining ones itself, such as
    `UPDATE t SET a = 1 WHERE id IN (SELECT id FROM t WHERE a IS NULL LIMIT 2000)`.
    """

    reversible = True

    def __init__(self, statement: str) -> None:
        self.statement = statement

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Changes no model."""

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        self._ensure_not_in_transaction(schema_editor)
        if schema_editor.collect_sql:
            schema_editor.execute(self.statement)
            return
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(self.statement)
            while cursor.rowcount > 0:
                cursor.execute(self.statement)

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        """Leaves the rows as they are."""

    def describe(self) -> str:
        return "Fills rows in batches"


class FillByKey(FillInBatches):
    """Runs a statement for one range of keys after the other, each in a transaction of its own.

    For rows without a mark that shows that they are done. `following` takes the last key and
    selects the end of the next range, NULL after the last, such as `SELECT max(id) FROM (SELECT id
    FROM t WHERE id > %s ORDER BY id LIMIT 2000) AS batch`. `statement` takes both ends: `id > %s
    AND id <= %s`.
    """

    def __init__(self, following: str, statement: str) -> None:
        super().__init__(statement)
        self.following = following

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        self._ensure_not_in_transaction(schema_editor)
        if schema_editor.collect_sql:
            schema_editor.execute(self.statement, ["", ""])
            return
        end = ""
        with schema_editor.connection.cursor() as cursor:
            while True:
                start = end
                cursor.execute(self.following, [start])
                (end,) = cursor.fetchone()
                if end is None:
                    return
                cursor.execute(self.statement, [start, end])


class WriteDomainsInAscii(Operation):
    """Writes the domains in a column `email` in the form of the DNS, row by row.

    A row stays unchanged if that form would violate a unique address.
    """

    reversible = True

    def __init__(self, table: str, key: str) -> None:
        self.table, self.key = table, key

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Changes no model."""

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        connection = schema_editor.connection
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT {self.key}, email FROM {self.table} WHERE email ~ '[^\\x01-\\x7f]'"  # noqa: S608
            )
            for pk, email in cursor.fetchall():
                local, _, domain = email.rpartition("@")
                with suppress(UnicodeError, IntegrityError), atomic(using=connection.alias):
                    address = f"{local}@{idna.encode(domain, uts46=True).decode()}"
                    cursor.execute(
                        f"UPDATE {self.table} SET email = %s WHERE {self.key} = %s AND email = %s",  # noqa: S608
                        [address, pk, email],
                    )

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        """Leaves the rows as they are."""

    def describe(self) -> str:
        return f"Writes the domains of {self.table} in ASCII"


@contextmanager
def making(name: str, schema_editor: Any) -> Iterator[bool]:
    """Yields whether the index is missing, without time limits; removes an invalid one before."""
    if schema_editor.collect_sql:
        yield True
        return
    with without_limits(schema_editor.connection) as cursor:
        cursor.execute(_STATE, [name])
        found = cursor.fetchone()
        if found and not found[0]:
            schema_editor.execute(f"DROP INDEX CONCURRENTLY {schema_editor.quote_name(name)}")
        yield not (found and found[0])


@contextmanager
def without_limits(connection: Any) -> Iterator[Any]:
    """Yields a cursor without time limits."""
    names = ("lock_timeout", "statement_timeout")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('lock_timeout'), current_setting('statement_timeout')"
        )
        before = cursor.fetchone()
        try:
            for name in names:
                cursor.execute("SELECT set_config(%s, '0', false)", [name])
            yield cursor
        finally:
            for name, value in zip(names, before, strict=True):
                cursor.execute("SELECT set_config(%s, %s, false)", [name, value])
