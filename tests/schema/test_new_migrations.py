"""Migrations since the last release stop no call, and the code of before goes on beside them."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.core.management import call_command
from django.db import connection, migrations
from django.db.migrations import AddField
from django.db.migrations.loader import MigrationLoader
from django.db.models import CharField, Index

from db.operations import AddIndexWhileInUse, FillInBatches, RemoveIndexWhileInUse
from tests.schema.conftest import Rows
from tests.schema.releases import Key, list_new, migrate_to_release, other_database, read_released

# What costs taste and no time. A migration may fail after each statement, but not half a statement.
TASTE = (
    "prefer-robust-stmts", "prefer-text-field", "prefer-identity", "prefer-bigint-over-int",
    "prefer-bigint-over-smallint", "prefer-timestamp-tz", "ban-char-field",
    "require-timeout-settings",  # `manage.py migrate` sets them
)  # fmt: skip
# Columns that the last release had ceased to use, and the migrations that remove them.
REMOVED: dict[tuple[str, str], Key] = {}
WHILE_IN_USE = (AddIndexWhileInUse, RemoveIndexWhileInUse)
NEW = list_new(MigrationLoader(None))
COLUMNS = """
SELECT c.table_name::text, c.column_name::text, c.data_type::text, c.character_maximum_length,
       c.is_nullable = 'YES' OR c.column_default IS NOT NULL OR c.is_identity = 'YES'
       OR c.is_generated = 'ALWAYS'
  FROM information_schema.columns c JOIN information_schema.tables t USING (table_name)
 WHERE c.table_schema = 'public' AND t.table_schema = 'public' AND t.table_type = 'BASE TABLE'
"""


def lint(sql: str, folder: Path, *options: str) -> list[str]:
    """What squawk says of statements."""
    file = folder / "migration.sql"
    file.write_text(sql)
    command: Sequence[Any] = (
        *(Path(sys.executable).with_name("squawk"), "--reporter", "gcc", "--pg-version", "14"),
        *("--exclude", ",".join(TASTE), *options, file),
    )
    found = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert found.returncode in (0, 1), found.stderr
    return [line.partition("migration.sql:")[2] for line in found.stdout.splitlines() if line]


def find_faults(migration: migrations.Migration, folder: Path) -> list[str]:
    faults = []
    for operation in migration.operations:
        if isinstance(operation, migrations.RunPython):
            faults.append("RunPython: nothing can look at it; use RunSQL or FillInBatches")
        if isinstance(operation, AddIndexConcurrently | RemoveIndexConcurrently) and not isinstance(
            operation, WHILE_IN_USE
        ):
            faults.append("it cannot run again: use AddIndexWhileInUse or RemoveIndexWhileInUse")
    added = [each.model_name for each in migration.operations if isinstance(each, AddField)]
    if migration.atomic and len(added) > len(set(added)):
        faults.append("the table is locked while models are made between: use AddFields")
    sql = "\n".join(MigrationLoader(connection).collect_sql([(migration, False)]))
    options = ("--assume-in-transaction",) if migration.atomic else ()
    if (migration.app_label, migration.name) in REMOVED.values():
        options = (*options, "--exclude", "ban-drop-column")
    return [*faults, *lint(sql, folder, *options)]


@pytest.mark.django_db(transaction=True)
def test_they_stop_no_call(tmp_path: Path) -> None:
    faults = {key: find_faults(migration, tmp_path) for key, migration in NEW.items()}
    assert {key: found for key, found in faults.items() if found} == {}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("operation", "fault"),
    [
        (migrations.AddIndex("delivery", Index(fields=["url"], name="x")), "index-creation"),
        (AddIndexConcurrently("delivery", Index(fields=["url"], name="x")), "cannot run again"),
        (migrations.RemoveField("delivery", "url"), "ban-drop-column"),
        (migrations.RenameField("delivery", "url", "target"), "renaming"),
        (migrations.AlterField("delivery", "url", CharField(max_length=9)), "changing-column-type"),
        (migrations.RunSQL("ALTER TABLE webhooks_delivery ADD x int NOT NULL"), "required-field"),
        (migrations.RunSQL("ALTER TABLE webhooks_delivery ALTER url SET NOT NULL"), "not-null"),
        (migrations.RunSQL("ALTER TABLE webhooks_delivery ADD CHECK (url > '')"), "not-valid"),
        (migrations.RunSQL("DROP TABLE webhooks_delivery"), "ban-drop-table"),
        (migrations.RunPython(migrations.RunPython.noop), "RunPython"),
    ],
)  # fmt: skip
def test_what_is_found(operation: Any, fault: str, tmp_path: Path) -> None:
    is_atomic = not isinstance(operation, AddIndexConcurrently)
    changes = {"operations": [operation], "atomic": is_atomic}
    migration = type("Bad", (migrations.Migration,), changes)("9999_bad", "webhooks")
    assert fault in "\n".join(find_in_state(migration, tmp_path))


def find_in_state(migration: migrations.Migration, folder: Path) -> list[str]:
    """As `find_faults`, for a migration that is in no folder."""

    def collect(loader: MigrationLoader, plan: Any) -> list[str]:
        state = loader.project_state()
        with connection.schema_editor(collect_sql=True, atomic=migration.atomic) as editor:
            migration.apply(state, editor, collect_sql=True)
        return [str(statement) for statement in editor.collected_sql]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MigrationLoader, "collect_sql", collect)
        return find_faults(migration, folder)


@pytest.mark.django_db(transaction=True)
def test_the_code_of_the_last_release_finds_its_columns(rows: Rows) -> None:
    """Nodes with it go on until they are replaced: each column is there, with its type, and a row
    without the new ones can be written."""
    now = {(table, column): rest for table, column, *rest in rows(COLUMNS)}
    with other_database("released"):
        migrate_to_release()
        before = {(table, column): rest for table, column, *rest in rows(COLUMNS)}
    tables = {table for table, _ in before}
    assert len(tables) > 15
    for key, (kind, length, _) in before.items():
        if key in REMOVED:
            continue
        assert key in now, f"{key} was removed in the version that ceases to use it"
        assert now[key][0] == kind, key
        assert length is None or now[key][1] >= length, key
    for key, (_, _, may_be_left_out) in now.items():
        if key not in before and key[0] in tables:
            assert may_be_left_out, f"{key} has no default in the database"


@pytest.mark.django_db(transaction=True)
def test_an_index_that_was_interrupted_is_made_anew(rows: Rows) -> None:
    index = Index(fields=["host"], name="delivery_by_half")
    state = MigrationLoader(connection).project_state()
    after = state.clone()
    operation = AddIndexWhileInUse("delivery", index)
    operation.state_forwards("webhooks", after)
    valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'delivery_by_half'::regclass"
    try:
        cursor = connection.cursor()
        cursor.execute("CREATE INDEX delivery_by_half ON webhooks_delivery (host)")
        cursor.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'delivery_by_half'::regclass"
        )
        assert rows(valid) == [(False,)]
        for _ in range(2):  # the second time it is there
            with connection.schema_editor(atomic=False) as editor:
                operation.database_forwards("webhooks", editor, state, after)
            assert rows(valid) == [(True,)]
        removal = RemoveIndexWhileInUse("delivery", "delivery_by_half")
        for _ in range(2):
            with connection.schema_editor(atomic=False) as editor:
                removal.database_forwards("webhooks", editor, after, state)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP INDEX IF EXISTS delivery_by_half")


@pytest.mark.django_db(transaction=True)
def test_filling_in_batches(rows: Rows) -> None:
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO db_heartbeat SELECT n, now() FROM generate_series(1, 7) n")
    operation = FillInBatches(
        "UPDATE db_heartbeat SET beat_at = 'epoch' WHERE name IN"
        " (SELECT name FROM db_heartbeat WHERE beat_at > 'epoch' LIMIT 3)"
    )
    state = MigrationLoader(connection).project_state()
    with connection.schema_editor(atomic=False) as editor:
        operation.database_forwards("db", editor, state, state)
    assert rows("SELECT count(*), count(DISTINCT xmin::text) FROM db_heartbeat") == [(7, 3)]
    assert rows("SELECT count(*) FROM db_heartbeat WHERE beat_at = 'epoch'") == [(7,)]


def test_the_last_release_is_known() -> None:
    loader = MigrationLoader(None)
    for app, name in read_released():
        assert (app, name) in loader.disk_migrations


@pytest.mark.django_db(transaction=True)
def test_the_limits_end_with_the_command(rows: Rows) -> None:
    call_command("migrate", verbosity=0)
    (limits,) = rows("SELECT current_setting('lock_timeout'), current_setting('statement_timeout')")
    assert limits == ("30s", "0")


@pytest.mark.django_db(transaction=True)
def test_metadata_goes_back_and_forth(rows: Rows) -> None:
    """The column, its function and its index, whatever was stored."""
    found = """SELECT (SELECT count(*) FROM pg_proc WHERE proname = 'reviews_metadata_pairs'),
                      (SELECT count(*) FROM pg_class WHERE relname = 'request_metadata'),
                      (SELECT count(*) FROM pg_attribute WHERE attname = 'metadata'
                          AND attrelid = 'reviews_request'::regclass AND NOT attisdropped)"""
    with other_database("metadata"):
        call_command("migrate", verbosity=0)
        assert rows(found) == [(1, 1, 1)]
        call_command("migrate", "reviews", "0019", verbosity=0)
        assert rows(found) == [(0, 0, 0)]
        call_command("migrate", verbosity=0)
        assert rows(found) == [(1, 1, 1)]


@pytest.mark.django_db(transaction=True)
def test_versions_go_back_and_forth(rows: Rows) -> None:
    """The column, its index and its foreign key."""
    found = """SELECT (SELECT count(*) FROM pg_class WHERE relname = 'request_replaced_once'),
                      (SELECT count(*) FROM pg_constraint
                        WHERE conname = 'request_replaces' AND convalidated),
                      (SELECT count(*) FROM pg_attribute WHERE attname = 'replaces_id'
                          AND attrelid = 'reviews_request'::regclass AND NOT attisdropped)"""
    with other_database("versions"):
        call_command("migrate", verbosity=0)
        assert rows(found) == [(1, 1, 1)]
        call_command("migrate", "reviews", "0021", verbosity=0)
        assert rows(found) == [(0, 0, 0)]
        call_command("migrate", verbosity=0)
        assert rows(found) == [(1, 1, 1)]
