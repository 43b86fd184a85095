"""What the schema says of accounts, ids and keys (docs/architecture.md, Ids and accounts)."""

import re
from pathlib import Path

import pytest

from tests.schema.conftest import Rows
from tests.schema.tables import FRAMEWORKS, GLOBAL, OWNED, SURROGATES

ROOT = Path(__file__).parents[2]
TABLES = """
SELECT table_name FROM information_schema.tables
 WHERE table_schema = 'public' AND table_type = 'BASE TABLE'
"""
COLUMN = """
SELECT is_nullable, character_maximum_length FROM information_schema.columns
 WHERE table_schema = 'public' AND table_name = %s AND column_name = %s
"""
PRIMARY = """
SELECT c.conname, array_agg(a.attname::text ORDER BY a.attname)
  FROM pg_constraint c JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)
 WHERE c.contype = 'p' AND c.conrelid = %s::regclass GROUP BY c.conname
"""
CHECKS = """
SELECT pg_get_constraintdef(oid) FROM pg_constraint
 WHERE contype = 'c' AND conrelid = %s::regclass AND conname LIKE '%%\\_in\\_bucket'
"""
UNIQUE = """
SELECT i.indrelid::regclass::text, i.indexrelid::regclass::text, c.contype
  FROM pg_index i LEFT JOIN pg_constraint c ON c.conindid = i.indexrelid AND c.contype IN ('p', 'u')
 WHERE i.indisunique AND i.indrelid = ANY (%s::regclass[])
"""
CONSTRAINTS = "SELECT conname FROM pg_constraint WHERE contype IN ('p', 'u')"


def test_every_table_is_known(rows: Rows) -> None:
    ours = {name for (name,) in rows(TABLES) if not name.startswith(FRAMEWORKS)}
    assert ours == {*OWNED, *GLOBAL}


@pytest.mark.parametrize("table", OWNED)
def test_a_row_says_which_account_owns_it(rows: Rows, table: str) -> None:
    assert rows(COLUMN, [table, OWNED[table]]) == [("NO", 24)]


@pytest.mark.parametrize("table", OWNED)
def test_the_database_refuses_ids_outside_the_bucket(rows: Rows, table: str) -> None:
    ((name, columns),) = rows(PRIMARY, [table])
    assert name == f"{table}_pkey"
    checks = [check for (check,) in rows(CHECKS, [table])]
    if columns != ["id"] or table in SURROGATES:
        assert checks == []
    else:
        owner = OWNED[table]
        assert checks == [f'CHECK (("right"((id)::text, 3) = "right"(({owner})::text, 3)))']


@pytest.mark.parametrize("table", OWNED)
def test_no_row_has_a_number_where_it_has_a_natural_key(rows: Rows, table: str) -> None:
    is_numbered = rows(
        "SELECT count(*) > 0 FROM information_schema.columns WHERE table_name = %s"
        " AND table_schema = 'public' AND is_identity = 'YES'",
        [table],
    )
    assert is_numbered == [(table in SURROGATES,)]


def test_unique_constraints_have_names_of_ours(rows: Rows) -> None:
    for table, index, kind in rows(UNIQUE, [[*OWNED, *(GLOBAL - {"accounts_user_groups"})]]):
        if kind != "p" and not table.startswith("accounts_user_"):
            assert not re.search(r"(_key|_uniq|_[0-9a-f]{8})\Z", index), index


def test_conflicts_name_their_constraint(rows: Rows) -> None:
    known = {name for (name,) in rows(CONSTRAINTS)}
    for room in ("accounts", "bench", "db", "loops", "mailing", "reviews", "webhooks"):
        for path in (ROOT / room).rglob("*.py"):
            for said in re.findall(r"ON CONFLICT\s+(.*)", path.read_text(encoding="utf-8")):
                named = re.match(r"ON CONSTRAINT (\w+)", said)
                assert said.startswith("DO NOTHING") or (named and named[1] in known), path
