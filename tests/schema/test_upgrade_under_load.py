"""All migrations since the last release run while others read, write and hold locks."""

import io
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from pytest_django import Settings

from config.management.commands import migrate
from tests.schema.conftest import Rows
from tests.schema.releases import migrate_to_release, other_database
from tests.serving import database_url
from tests.waiting import wait_until
from web.health import pending_migrations

pytestmark = pytest.mark.django_db(transaction=True)
BENCH = Path(__file__).parents[2] / "bench"
REQUESTS = 4_000
OWNER, LOOP = "0" * 21 + "abc", "1" * 21 + "abc"
PEOPLE = """
INSERT INTO accounts_user (id, email, name, time_zone, password, is_superuser, is_staff, is_active)
VALUES (%(owner)s, 'owner@example.com', 'Owner', 'UTC', '', false, false, true);
INSERT INTO loops_loop (id, creator_id, name, icon, description, invite_code)
VALUES (%(loop)s, %(owner)s, 'Loop', 'star', '', 'abcdefgh');
INSERT INTO loops_membership (id, account_id, loop_id, user_id, member_id, email, status, joined_at)
VALUES (%(loop)s, %(owner)s, %(loop)s, %(owner)s, %(owner)s, '', 'active', now());
"""
# What the code of the last release may do at any time.
TABLES = ("accounts_user", "loops_loop", "loops_membership", "reviews_request", "webhooks_delivery")
WRITES = [
    "UPDATE accounts_user SET name = 'Other'",
    "UPDATE loops_loop SET updated_at = now()",
    "UPDATE loops_membership SET email = ''",
    "UPDATE reviews_request SET updated_at = now()"
    " WHERE id = (SELECT max(id) FROM reviews_request WHERE status = 'pending')",
    "UPDATE webhooks_delivery SET next_attempt_at = now()"
    " WHERE id = (SELECT max(id) FROM webhooks_delivery)",
]
READS = [f"SELECT count(*) FROM (SELECT FROM {table} LIMIT 100) few" for table in TABLES]


class Clients:
    """Reads and writes on a connection each, all the time. None waits longer than a second."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.done = dict.fromkeys([*WRITES, *READS], 0)
        self.failures: list[str] = []
        self._stop = threading.Event()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        threads = [threading.Thread(target=self._work, args=[kind]) for kind in (WRITES, READS)]
        for thread in threads:
            thread.start()
        try:
            wait_until(lambda: min(self.done.values()) > 0)
            yield
            seen = dict(self.done)
            wait_until(lambda: self.failures or all(self.done[key] > seen[key] for key in seen))
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()

    def _work(self, statements: list[str]) -> None:
        # the server ends what waits longer, so that a slow machine is no failure
        with psycopg.connect(self.url, autocommit=True, options="-c lock_timeout=1s") as client:
            while not self._stop.wait(0.01):  # leaves the processor to the others
                for statement in statements:
                    try:
                        client.execute(statement)
                    except psycopg.Error as error:
                        self.failures.append(f"{statement}: {error}")
                    self.done[statement] += 1


class Output(io.StringIO):
    """Calls `said` when migrate says something."""

    def __init__(self, said: threading.Event) -> None:
        super().__init__()
        self.said = said

    def write(self, text: str) -> int:
        self.said.set()
        return super().write(text)


def end(transaction: psycopg.Connection, said: threading.Event) -> None:
    """Ends a transaction, and its locks, once migrate has said something."""
    said.wait(30)
    transaction.rollback()


def fill() -> None:
    with connection.cursor() as cursor:
        for statement in PEOPLE.split(";")[:-1]:
            cursor.execute(statement, {"owner": OWNER, "loop": LOOP})
        params: dict[str, Any] = {"loops": [LOOP], "most": 1, "count": REQUESTS, "loop": LOOP}
        for name in ("mixed", "deliveries"):
            cursor.execute((BENCH / f"{name}.sql").read_text(encoding="utf-8"), params)


def test_nobody_waits_for_an_upgrade(rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even beside a transaction that keeps every table from being changed, as a dump does."""
    monkeypatch.setattr(migrate, "PAUSES", (0.3,))
    with other_database("upgraded"):
        migrate_to_release()
        fill()
        clients, said = Clients(database_url()), threading.Event()
        with psycopg.connect(database_url()) as dump, clients.at_work():
            for read in READS:
                dump.execute(read)
            ender = threading.Thread(target=end, args=[dump, said])
            ender.start()
            call_command("migrate", verbosity=0, stderr=Output(said))
            said.set()  # after a release there may be nothing to wait for
            ender.join()
        assert clients.failures == []
        assert not pending_migrations()
        ((count,),) = rows("SELECT count(*) FROM reviews_request")
        assert count == REQUESTS
        assert rows("SELECT count(*) FROM pg_index WHERE NOT indisvalid") == [(0,)]


LOCKED = "LOCK TABLE django_migrations"


def test_it_tries_again(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    monkeypatch.setattr(migrate, "PAUSES", (0.01,))
    settings.MIGRATE_LOCK_SECONDS = 0.05
    said = threading.Event()
    output = Output(said)
    with psycopg.connect(database_url(), application_name="long report") as report:
        report.execute(LOCKED)
        threading.Thread(target=end, args=[report, said]).start()
        call_command("migrate", verbosity=0, stderr=output)
    assert (
        "A table is locked, so nobody is kept waiting: trying again in 0.0 s" in output.getvalue()
    )
    assert re.search(r"The oldest transaction is \d+ s old \(process \d+, ", output.getvalue())


def test_it_gives_up_and_says_why(settings: Settings) -> None:
    settings.MIGRATE_PATIENCE_SECONDS, settings.MIGRATE_LOCK_SECONDS = 0, 0.05
    with psycopg.connect(database_url(), application_name="long report") as report:
        report.execute(LOCKED)
        with pytest.raises(CommandError, match=r"waited in vain for a lock.*, long report"):
            call_command("migrate", verbosity=0)


def test_a_statement_that_takes_too_long(settings: Settings) -> None:
    settings.MIGRATE_LOCK_SECONDS, settings.MIGRATE_STATEMENT_SECONDS = 60, 0.05
    with psycopg.connect(database_url()) as report:
        report.execute(LOCKED)
        with pytest.raises(CommandError, match=r"MIGRATE_STATEMENT_SECONDS, which is 0\.05"):
            call_command("migrate", verbosity=0)


def test_one_migrates_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    said = threading.Event()
    output = Output(said)
    monkeypatch.setattr(migrate, "PAUSES", (0.01,))
    with psycopg.connect(database_url()) as other:
        other.execute("SELECT pg_advisory_xact_lock(%s)", [migrate.LOCK])
        threading.Thread(target=end, args=[other, said]).start()
        call_command("migrate", verbosity=0, stderr=output)
    assert "Another process migrates; waiting for it." in output.getvalue()
