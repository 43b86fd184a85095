"""`manage.py backup` and `restore`: a copy is whole and quiet, and its events keep their ids."""

import io
import json
import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from accounts.secret_services import read_secrets
from accounts.vault import get_fingerprint
from config.backups import Refused, making, programs, restoring
from config.backups.programs import find_programs
from db import deliveries
from reviews import services, tasks
from reviews.models import Request
from tests.portal import words
from tests.processes.stack import ROOT
from tests.reviews.conftest import Make, make_overdue
from tests.reviews.conftest import make as make
from tests.serving import database_url
from tests.waiting import wait_until
from tests.webhooks.conftest import claim
from tests.webhooks.test_quiet_mode import BANNER
from webhooks.models import Delivery, LoggedEvent

pytestmark = pytest.mark.django_db(transaction=True)
HOOK = "https://receiver.example/hook"
OTHER_KEY = "c2Vjb25kIGtleSBmb3IgdGhlIHRlc3RzLCAzMmJ5dGU="


def manage(*command: str) -> str:
    output = io.StringIO()
    call_command(*command, stdout=output)
    return output.getvalue()


def refused(*command: str) -> str:
    """Why a command refuses."""
    with pytest.raises(CommandError) as caught:
        manage(*command)
    return str(caught.value)


@contextmanager
def using(name: str) -> Iterator[None]:
    """Within, everything uses another database of the server."""
    given = connection.settings_dict
    before = given["NAME"]
    connection.close()
    given["NAME"] = name
    try:
        yield
    finally:
        connection.close()
        given["NAME"] = before
        deliveries.forget()


@pytest.fixture
def new_database() -> Iterator[Callable[[], str]]:
    """Makes empty databases."""
    made: list[str] = []

    def make_one() -> str:
        made.append(f"copy_{os.getpid()}_{len(made)}")
        server.execute(f"CREATE DATABASE {made[-1]}")
        return made[-1]

    with psycopg.connect(
        re.sub(r"/[^/]*\Z", "/postgres", database_url()), autocommit=True
    ) as server:
        yield make_one
        for name in made:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def backup(tmp_path: Path, make: Make, member: User) -> Path:
    """Of a database with a request that is due, and one that is answered but not yet told."""
    answered, due = make(callback_url=HOOK), make(callback_url=HOOK)
    services.answer_request(request=answered, reviewer_id=member.pk, answer="yes")
    make_overdue(due)
    read_secrets(answered.creator_id)
    file = tmp_path / "backup.dump"
    said = manage("backup", str(file))
    assert re.search(r"Wrote \S+backup.dump: \d\.\d MB of PostgreSQL \d+", said)
    return file


def count_rows() -> dict[str, int]:
    tables = connection.introspection.django_table_names(only_existing=True)
    with connection.cursor() as cursor:
        counts = {}
        for table in tables:
            cursor.execute(f"SELECT count(*) FROM {table}")
            counts[table] = cursor.fetchone()[0]
    return counts


def test_two_copies_are_quiet_and_send_the_same_events(
    backup: Path, new_database: Callable[[], str], owner: User
) -> None:
    original, events = count_rows(), []
    for _ in range(2):
        with using(new_database()):
            said = manage("restore", str(backup))
            assert "Deliveries are off; 1 webhooks, 0 pushes and 4 emails wait." in said
            assert "waiting for receiver.example: 1 webhooks" in said
            assert not deliveries.are_on()
            assert BANNER in words(Client().get("/"))
            assert count_rows() == {**original, "db_deliverystop": 1}
            assert read_secrets(owner.pk)
            tasks.settle_overdue()
            assert {row.status for row in Request.objects.all()} == {"completed", "timeout"}
            events.append(dict(Delivery.objects.values_list("occurrence", "id")))
            assert LoggedEvent.objects.count() == 2
            assert "2 webhooks" in manage("deliveries")
            manage("deliveries", "on")
            assert deliveries.are_on()
            assert len(claim(9)) == 2
    assert events[0] == events[1]
    assert len(events[0]) == 2
    tasks.settle_overdue()
    assert dict(Delivery.objects.values_list("occurrence", "id")) == events[0]


def test_the_file(backup: Path, settings: Settings) -> None:
    """Only its owner may read it, it names the key without having it, and pg_restore reads it."""
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert [path.name for path in backup.parent.iterdir()] == [backup.name]
    content = backup.read_bytes()
    (key,) = settings.ENCRYPTION_KEYS
    assert key.encode() not in content
    manifest = json.loads(content.splitlines()[-1])
    assert manifest["keys"] == [get_fingerprint(key)]
    assert manifest["postgres"] == programs.read_major()
    pg_restore = find_programs().get("pg_restore")
    for arguments, given in (([str(backup)], None), ([], content)):
        listed = subprocess.run(
            [pg_restore, "--list", *arguments], input=given, capture_output=True
        )
        assert b"TABLE DATA public reviews_request" in listed.stdout, listed.stderr
    script = subprocess.run([pg_restore, "--file=-", str(backup)], capture_output=True)
    assert (script.returncode, script.stderr) == (0, b"")


def test_keys_that_a_backup_needs(backup: Path, settings: Settings, tmp_path: Path) -> None:
    """The first one, and others as long as a stored secret uses them."""
    (first,) = settings.ENCRYPTION_KEYS
    settings.ENCRYPTION_KEYS = [OTHER_KEY]
    said = refused("restore", str(backup), "--replace")
    assert f"needs the encryption key with the fingerprint {get_fingerprint(first)}" in said
    assert f"ENCRYPTION_KEYS has {get_fingerprint(OTHER_KEY)}" in said
    settings.ENCRYPTION_KEYS = [OTHER_KEY, first]
    both = f"{get_fingerprint(OTHER_KEY)}, {get_fingerprint(first)}."
    assert both in manage("backup", str(tmp_path / "second"))
    manage("rotatekeys")
    assert both not in manage("backup", str(tmp_path / "third"))


def test_a_database_that_is_not_empty(
    backup: Path, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Is left alone, or replaced; processes that still run are quiet before that."""
    assert "The database is not empty" in refused("restore", str(backup))
    later = make(callback_url=HOOK)
    stops: list[str] = []
    pipe = restoring.pipe

    def watch(*arguments: Any) -> None:
        stops.append(str(deliveries.read_stop()))
        pipe(*arguments)

    monkeypatch.setattr(deliveries, "FRESH", 0.0)
    monkeypatch.setattr(restoring, "pipe", watch)
    manage("restore", str(backup), "--replace")
    assert "a backup is being restored" in stops[0]
    assert Request.objects.count() == 2
    assert not Request.objects.filter(pk=later.pk).exists()
    assert not deliveries.are_on()
    call_command("makemigrations", check_changes=True, dry_run=True)


@pytest.mark.parametrize(
    "harm", ["cut", "changed", "foreign", "absent", "no JSON", "no text", "a field less"]
)
def test_a_file_that_is_not_whole(backup: Path, harm: str) -> None:
    content = backup.read_bytes()
    middle = len(content) // 2
    line = content.splitlines()[-1]
    harmed = {
        "no JSON": line.replace(b'"made_at"', b'"made_at'),
        "no text": line.replace(b'"made_at"', b'"made\xff"'),
        "a field less": line.replace(b'"made_at"', b'"more"'),
    }
    if harm == "cut":
        backup.write_bytes(content[:-9])
    elif harm == "changed":
        backup.write_bytes(content[:middle] + b"harm" + content[middle + 4 :])
    elif harm == "foreign":
        backup.write_bytes(b"PGDMP")
    elif harm in harmed:
        backup.write_bytes(content.replace(line, harmed[harm]))
    else:
        backup.unlink()
    said = refused("restore", str(backup), "--replace")
    assert {
        "cut": "is no complete backup",
        "changed": "is damaged",
        "foreign": "is no complete backup",
        "absent": "cannot be read: No such file",
        **dict.fromkeys(harmed, "is damaged: its last line cannot be read"),
    }[harm] in said
    assert Request.objects.count() == 2


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("migrations", ["reviews.9999_future"], "which does not know reviews.9999_future"),
        ("review_loop_backup", 2, "was made by a newer version"),
        ("postgres", 99, "The backup is of PostgreSQL 99"),
    ],
)
def test_what_is_newer(backup: Path, field: str, value: object, reason: str) -> None:
    content = backup.read_bytes()
    dump, line = content[: content.rindex(b"\n{")], content.splitlines()[-1]
    manifest = {**json.loads(line), field: value}
    backup.write_bytes(dump + b"\n" + json.dumps(manifest).encode() + b"\n")
    assert reason in refused("restore", str(backup), "--replace")


@pytest.mark.parametrize("failing", ["pg_restore", "psql"])
def test_a_restore_that_fails_changes_nothing(
    backup: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    if failing == "psql":
        monkeypatch.setattr(restoring, "_QUIET", "SELECT nonsense;")
    else:
        reader = backup.with_name("pg_restore")
        reader.write_text(
            '#!/bin/sh\necho "CREATE TABLE half ();"\necho error: broken >&2\nexit 1\n'
        )
        reader.chmod(0o700)
        monkeypatch.setattr(
            programs.Programs,
            "get",
            lambda self, name: str(reader if name == "pg_restore" else self.folder / name),
        )
    monkeypatch.setattr(deliveries, "FRESH", 0.0)
    before = count_rows()
    assert f"{failing} failed: " in refused("restore", str(backup), "--replace")
    assert count_rows() == before


def test_a_restore_whose_end_is_lost_is_quiet(
    backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was complete, and the connection was lost before psql knew."""
    pipe = restoring.pipe

    def fail_late(*arguments: Any) -> None:
        pipe(*arguments)
        raise Refused("psql failed: connection lost")

    monkeypatch.setattr(restoring, "pipe", fail_late)
    monkeypatch.setattr(deliveries, "FRESH", 0.0)
    refused("restore", str(backup), "--replace")
    assert not deliveries.are_on()


def test_who_has_stopped_deliveries_starts_them(
    backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restoring, "_QUIET", "SELECT nonsense;")
    manage("deliveries", "off")
    assert "psql failed: " in refused("restore", str(backup), "--replace")
    assert not deliveries.are_on()


@pytest.mark.parametrize(
    ("number", "script", "goes_on"),
    [
        (signal.SIGKILL, "CREATE TABLE half ();", False),
        (signal.SIGTERM, "CREATE TABLE half (); SELECT pg_sleep(100);", True),
        (signal.SIGHUP, "CREATE TABLE half (); SELECT pg_sleep(100);", True),
    ],
)
def test_a_restore_that_is_killed_changes_nothing(
    backup: Path,
    new_database: Callable[[], str],
    tmp_path: Path,
    number: signal.Signals,
    script: str,
    goes_on: bool,
) -> None:
    """psql gets the end of its input, or is ended while the server is at a long statement."""
    name, waiting, pid = new_database(), tmp_path / "waiting", tmp_path / "pid"
    reader = tmp_path / "pg_restore"
    reader.write_text(
        f"#!/bin/sh\necho $$ > {pid}\necho '{script}'\n"
        "head -c 300000 /dev/zero | tr '\\0' '\\n'\n"  # more than the pipes hold back
        f"echo > {waiting}\nexec sleep 60\n"
    )
    reader.chmod(0o700)
    code = (
        "import django; django.setup();"
        "from config.backups import programs; from db import deliveries;"
        "deliveries.FRESH = 0.0; get = programs.Programs.get;"
        "programs.Programs.get = lambda self, name:"
        f" {str(reader)!r} if name == 'pg_restore' else get(self, name);"
        "from django.core.management import call_command;"
        f"call_command('restore', {str(backup)!r}, replace=True)"
    )
    with using(name):
        manage("restore", str(backup))
        before = count_rows()
        url = re.sub(r"/[^/]*\Z", f"/{name}", database_url())
        environment = {
            **os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "config.settings"
        }  # fmt: skip
        process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env=environment)
        try:
            wait_until(lambda: waiting.exists() or count_others("%pg_sleep%") > 0, 30)
            process.send_signal(number)
            process.wait(20)
        finally:
            process.kill()
            process.wait()
        with suppress(ProcessLookupError):
            os.kill(int(pid.read_text()), signal.SIGKILL)
        wait_until(lambda: not count_others(), 20)
        assert count_rows() == before
        if goes_on:
            assert "restored from" in manage("deliveries")


def count_others(query: str = "%") -> int:
    """The other connections to this database whose last statement is like that."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE %s",
            [query],
        )
        return int(cursor.fetchone()[0])


def test_a_backup_that_fails_leaves_the_last_one(
    backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = backup.read_bytes()
    monkeypatch.setattr(making, "append", lambda *_: refuse())
    assert "cannot be written: No space left on device" in refused("backup", str(backup))
    assert "cannot be written: No such file" in refused("backup", "/nowhere/backup.dump")
    os.mkfifo(special := backup.with_name("fifo"))
    assert "is no file, and stays as it is" in refused("backup", str(special))
    assert special.is_fifo()
    special.unlink()
    monkeypatch.setattr(making, "LOCKS_WITHIN", "nonsense")
    assert refused("backup", str(backup)).startswith("pg_dump failed: ")
    assert backup.read_bytes() == before
    assert [path.name for path in backup.parent.iterdir()] == [backup.name]


def test_the_backup_just_made_stays_beside_those_of_a_wrong_clock(tmp_path: Path) -> None:
    ahead = [tmp_path / f"review-loop-2031-01-0{day}T000000.dump" for day in (1, 2, 3)]
    made = tmp_path / "review-loop-2026-11-24T000000.dump"
    for path in (*ahead, made):
        path.touch()
    making.remove_oldest(made, 3)
    assert sorted(tmp_path.iterdir()) == [made, *ahead[1:]]


def test_a_folder_keeps_the_newest(tmp_path: Path) -> None:
    old = [f"review-loop-2026-01-0{day}T000000.dump" for day in (1, 2, 3)]
    left = [f".{name}.0a1b2c3d.partial" for name in old]  # by backups that were killed
    for name in [*old, *left, "mine.dump", ".mine.dump.0a1b2c3d.partial"]:
        (tmp_path / name).touch()
    for name in left[:2]:
        os.utime(tmp_path / name, (0, 0))
    manage("backup", str(tmp_path), "--keep", "2")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names[:-1] == [".mine.dump.0a1b2c3d.partial", left[2], "mine.dump", old[-1]]
    assert re.fullmatch(r"review-loop-20\d\d-\d\d-\d\dT\d{6}\.dump", names[-1])
    for wrong in ((str(tmp_path / "mine.dump"), "--keep", "2"), (str(tmp_path), "--keep", "0")):
        assert "--keep needs a folder" in refused("backup", *wrong)


def refuse() -> None:
    raise OSError(28, "No space left on device")


def test_a_database_without_the_stop(tmp_path: Path) -> None:
    """A copy of it could not be quiet."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'db' AND name LIKE '0002%%'")
    try:
        assert "run `manage.py migrate`" in refused("backup", str(tmp_path / "backup.dump"))
    finally:
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO django_migrations (app, name, applied)"
                " VALUES ('db', '0002_delivery_stop', now())"
            )


def test_programs_that_are_missing_or_old(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_programs().major >= programs.read_major()
    with pytest.raises(Refused, match="and version 99 is needed: install those of"):
        find_programs(at_least=99)
    monkeypatch.setattr(programs, "_list_found", lambda: iter(()))
    with pytest.raises(Refused, match="psql are not installed: install those of version"):
        find_programs()


def test_programs_of_the_wheel_encrypt_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "PACKAGED", ())
    monkeypatch.setenv("PATH", "")
    assert [each.folder.parent.name for each in programs._list_found()] == ["pginstall18"]
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "sslmode", "verify-full")
    assert [*programs._list_found()] == []


def test_a_password_is_in_no_argument(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.settings_dict, "PASSWORD", "secret word")
    conninfo, environment = programs.describe_connection()
    assert "secret" not in conninfo
    assert environment["PGPASSWORD"] == "secret word"


def test_the_scripts_of_newer_programs_for_an_older_server() -> None:
    script = [b"SET lock_timeout = 0;\n", restoring.UNKNOWN_BEFORE_17, b"SELECT 1;\n"]
    assert [*restoring._read_preamble(script, 17)] == script
    assert [*restoring._read_preamble(script, 16)] == [script[0], script[2]]
    lines = iter([b"\n"] * 100)
    assert len([*restoring._read_preamble(lines, 16)]) + len([*lines]) == 100


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_the_command_stops_when_it_is_told(tmp_path: Path, number: signal.Signals) -> None:
    """It removes what is half written; the file of before stays."""
    slow = tmp_path / "bin"
    slow.mkdir()
    for name in programs.NAMES:
        (slow / name).write_text("#!/bin/sh\necho '(PostgreSQL) 99'\n")
        (slow / name).chmod(0o700)
    started = tmp_path / "started"
    (slow / "pg_dump").write_text(
        "#!/bin/sh\n"
        f'[ "$1" = --version ] && echo "(PostgreSQL) 18" && exit\necho > {started}\nexec sleep 60\n'
    )
    file = tmp_path / "backup.dump"
    file.write_text("the last one")
    code = (
        "import django; django.setup();"
        "from config.backups import programs; from pathlib import Path;"
        f"programs._list_found = lambda: [programs.Programs(Path({str(slow)!r}), 99)];"
        "from django.core.management import call_command;"
        f"call_command('backup', {str(file)!r})"
    )
    environment = {
        **os.environ, "DATABASE_URL": database_url(), "DJANGO_SETTINGS_MODULE": "config.settings"
    }  # fmt: skip
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env=environment)
    try:
        wait_until(started.exists, 30)
        process.send_signal(number)
        assert process.wait(20) == 128 + number
    finally:
        process.kill()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup.dump", "bin", "started"]
    assert file.read_text() == "the last one"
