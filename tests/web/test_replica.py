"""Pages that a replica serves show all that the primary knew when they began."""

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
import pytest
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory
from django.urls import reverse
from pytest_django.fixtures import Settings

from accounts.models import User
from config.database_urls import TimeLimits, build_database
from db.time_limits import limited
from local.account import find_account
from local.datafolder import DataFolder
from local.postgres import Postgres
from loops.models import Loop
from reviews.models import Request
from tests.portal import signed_in
from tests.reviews.conftest import Make, make_overdue
from tests.reviews.conftest import make as make
from tests.serving import database_url
from web import replica

pytestmark = pytest.mark.django_db(transaction=True)
COUNT = "SELECT pg_is_in_recovery(), count(*) FROM loops_loop"


class Standby:
    """A real replica of the server of the tests."""

    def __init__(self, folder: DataFolder) -> None:
        self.postgres = Postgres(folder.path, folder.sockets, {"max_connections": "300"})
        account = find_account(self.postgres.data)
        self.postgres.data.mkdir(mode=0o700)
        account.give_folder(self.postgres.data)
        copy = [self.postgres._get_binary("pg_basebackup"), "-R", "-X", "stream", "-c", "fast"]
        subprocess.run(
            [*account.prefix, *copy, "-D", str(self.postgres.data), "-d", database_url()],
            check=True,
        )
        self.process = self.postgres.start()

    @property
    def url(self) -> str:
        server, _, _ = self.postgres.url.rpartition("/")
        return f"{server}/{connection.settings_dict['NAME']}"

    def execute(self, sql: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as one:
            one.execute(sql)

    def stop(self) -> None:
        self.postgres.stop(self.process)


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, django_db_setup: None, django_db_blocker: object
) -> Iterator[Standby]:
    folder = DataFolder(tmp_path_factory.mktemp("standby"))
    with django_db_blocker.unblock():  # type: ignore[attr-defined]
        standby = Standby(folder)
    yield standby
    standby.stop()
    folder.close()


@pytest.fixture
def standby(
    server: Standby, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Standby]:
    monkeypatch.setattr(replica, "_shunned_until", 0.0)
    monkeypatch.setattr(replica, "WAIT", 5.0)
    limits = TimeLimits(lock=2, statement=7)
    settings.REPLICA_DATABASE = build_database("DATABASE_REPLICA_URL", server.url, limits)
    with others_at_work():
        yield server
    replica._of_thread.replica.close()


@contextmanager
def others_at_work() -> Iterator[None]:
    """A transaction that waits for the disk, now and then: what no commit follows is not sent to
    a replica before (records of a clean-up, say, after which the last test stood still)."""
    over = threading.Event()
    url = database_url()

    def work() -> None:
        with psycopg.connect(url, autocommit=True) as one:
            one.execute("SET synchronous_commit = on")
            while not over.wait(0.05):
                one.execute("SELECT pg_logical_emit_message(true, 'others', '')")

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch) -> list[Exception]:
    """Why the replica was not used."""
    found: list[Exception] = []
    note = replica._note

    def keep(error: Exception) -> None:
        found.append(error)
        note(error)

    monkeypatch.setattr(replica, "_note", keep)
    return found


def count_loops(_request: HttpRequest) -> HttpResponse:
    with connection.cursor() as cursor:
        cursor.execute(COUNT)
        is_replica, count = cursor.fetchone()
    return HttpResponse(f"{'replica' if is_replica else 'primary'} {count}")


def asked(method: str = "GET") -> str:
    return replica.prefer_replica(count_loops)(
        RequestFactory().generic(method, "/")
    ).content.decode()


def test_it_shows_what_has_just_been_written(standby: Standby, loop: Loop) -> None:
    for number in range(2, 12):
        Loop.objects.create(creator_id=loop.creator_id, name=f"Loop {number}", icon="x")
        assert asked() == f"replica {number}"
    assert asked("POST") == "primary 11"
    assert connection.vendor == "postgresql"
    assert connection.alias == "default"


def test_the_primary_serves_what_the_replica_does_not_know_yet(
    standby: Standby, loop: Loop, notes: list[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked() == "replica 1"
    monkeypatch.setattr(replica, "WAIT", 0.05)
    standby.execute("SELECT pg_wal_replay_pause()")
    try:
        Loop.objects.create(creator_id=loop.creator_id, name="Two", icon="x")
        assert asked() == "primary 2"
        assert [type(each) for each in notes] == [replica.Behind]
    finally:
        standby.execute("SELECT pg_wal_replay_resume()")
    monkeypatch.setattr(replica, "WAIT", 5.0)
    assert asked() == "replica 2"


def test_a_replica_that_is_away_is_left_alone_for_a_while(
    standby: Standby, loop: Loop, notes: list[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    standby.stop()
    try:
        assert [asked(), asked()] == ["primary 1"] * 2
        assert len(notes) == 1
    finally:
        standby.process = standby.postgres.start()
    assert asked() == "primary 1"
    monkeypatch.setattr(replica, "_shunned_until", 0.0)
    assert asked() == "replica 1"


def test_a_replica_that_hangs_costs_a_moment(
    standby: Standby, loop: Loop, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PROCESS_KIND = "web"
    monkeypatch.setattr(replica, "SECONDS", 0.5)
    assert asked() == "replica 1"
    backends = subprocess.run(
        ["pgrep", "--parent", str(standby.process.pid)], capture_output=True, check=True
    ).stdout.split()
    for pid in backends:
        os.kill(int(pid), signal.SIGSTOP)
    try:
        with limited(60):
            assert asked() == "primary 1"
            assert count_loops(HttpRequest()).content == b"primary 1"
    finally:
        for pid in backends:
            os.kill(int(pid), signal.SIGCONT)


@pytest.fixture
def page(owner: User) -> Callable[[str], str]:
    client = signed_in(owner)

    def get(name: str) -> str:
        response = client.get(reverse(name))
        assert response.status_code == 200
        return response.content.decode()

    return get


@pytest.mark.parametrize("name", ["overview", "requests", "deliveries", "audit"])
def test_pages_come_from_it(
    standby: Standby,
    make: Make,
    page: Callable[[str], str],
    notes: list[Exception],
    settings: Settings,
    name: str,
) -> None:
    make()
    alone = page(name)
    assert notes == []
    settings.REPLICA_DATABASE = None
    assert len(page(name)) == pytest.approx(len(alone), abs=200)


def test_what_is_due_is_settled_by_the_primary(
    standby: Standby, make: Make, page: Callable[[str], str], notes: list[Exception]
) -> None:
    item = make()
    make_overdue(item)
    page("requests")
    assert Request.objects.get(pk=item.pk).status == "timeout"
    assert len(notes) == 1
    page("requests")
    assert len(notes) == 1
