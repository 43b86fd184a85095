"""`manage.py doctor`: each thing that is wrong gets a sentence and what to do."""

import io
import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from pytest_django import Settings

from accounts.models import User
from accounts.secret_services import read_secrets
from bench.serving import free_port
from config import database_checks, doctor
from config.backups import programs
from config.release import VERSION
from db import worker_status

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _healthy(settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    for name in worker_status.EXPECTED_SWEEPS:
        worker_status.record_heartbeat(name)
    (tmp_path / "staticfiles.json").write_text("{}")
    settings.STATIC_ROOT = tmp_path
    settings.VAPID_PRIVATE_KEY = "set"
    monkeypatch.setattr(doctor, "is_reachable", lambda host: True)


def run() -> tuple[str, int]:
    """What it prints without the findings of Django's checks, and the exit status."""
    output, status = io.StringIO(), 0
    try:
        call_command("doctor", stdout=output)
    except SystemExit as end:
        status = int(str(end.code))
    return re.sub(r"warning +security\.\S+ .*\n(?: +→.*\n)?", "", output.getvalue()), status


def test_all_is_well() -> None:
    said, status = run()
    assert status == 0, said
    assert {line.split()[0] for line in said.splitlines()} == {"ok"}
    assert re.search(r"ok +PostgreSQL \d+\S* answers; the database has \d+ [kM]B\.", said)
    assert f"Review Loop {VERSION}, Python 3." in said
    assert "Redis answers, for the broker and for the cache." in said


Break = Callable[[Settings, pytest.MonkeyPatch], None]


def set_to(**values: Any) -> Break:
    def change(settings: Settings, _: pytest.MonkeyPatch) -> None:
        for name, value in values.items():
            setattr(settings, name, value)

    return change


def forget_heartbeats(_: Settings, __: pytest.MonkeyPatch) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM db_heartbeat WHERE name = 'mail_due'")


def forget_migration(_: Settings, __: pytest.MonkeyPatch) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'reviews'")


def set_clock_back(_: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() - 30)


def fill_disk(_: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "LITTLE_DISK", 10**18)


def lose_programs(_: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_list_found", lambda: iter(()))


def close_push(_: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "is_reachable", lambda host: "apple" not in host)


def lose_database(_: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(connection, "cursor", refuse)


CONSOLE = "django.core.mail.backends.console.EmailBackend"
SMTP = "django.core.mail.backends.smtp.EmailBackend"


@pytest.mark.parametrize(
    ("break_it", "level", "sentence", "advice"),
    [
        (set_to(DEBUG=True), "wrong", "DEBUG is on", "Set DEBUG=false."),
        (set_to(EMAIL_BACKEND=CONSOLE), "warning", "No email is sent.", "Set EMAIL_URL"),
        (set_to(VAPID_PRIVATE_KEY=""), "warning", "Web Push is off.", "`manage.py vapidkey`"),
        (set_to(STATIC_ROOT="/nowhere"), "warning", "uncompressed", "collectstatic"),
        (forget_heartbeats, "wrong", "Background work is late: mail_due.", "Start a worker"),
        (forget_migration, "wrong", "lacks migrations", "`manage.py migrate`"),
        (set_clock_back, "wrong", "The clock differs by", "NTP"),
        (fill_disk, "warning", "GB are free on the disk", "Make room"),
        (lose_programs, "warning", "backup` does not work", "install those of version"),
        (close_push, "warning", "cannot be reached: web.push.apple.com.", "port 443"),
        (lose_database, "wrong", "PostgreSQL cannot be reached: connection", "DATABASE_URL"),
        (
            set_to(MAIL_SERVER_BACKEND=SMTP, EMAIL_HOST="127.0.0.1", EMAIL_PORT=free_port()),
            "wrong",
            "The mail server cannot be used",
            "EMAIL_URL",
        ),
        (
            set_to(WEBHOOK_CA_FILE="/nowhere.pem"),
            "warning",
            "WEBHOOK_CA_FILE cannot be used here: No such file",
            "Every webhook fails",
        ),
        (
            set_to(WEBHOOK_CA_FILE=__file__),
            "warning",
            "WEBHOOK_CA_FILE cannot be used here: ",
            "Every webhook fails",
        ),
        (
            set_to(CELERY_BROKER_URL=f"redis://127.0.0.1:{free_port()}/0"),
            "wrong",
            "Redis cannot be reached",
            "REDIS_URL",
        ),
        (
            set_to(MAIL_SERVER_BACKEND=SMTP, EMAIL_HOST="a..b"),
            "wrong",
            "The mail server cannot be used",
            "EMAIL_URL",
        ),
        (
            set_to(CELERY_BROKER_URL="redis://a..b/0"),
            "wrong",
            "A check failed: check_redis: UnicodeError: ",
            "Check the setting it is about",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong(
    break_it: Break,
    level: str,
    sentence: str,
    advice: str,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    break_it(settings, monkeypatch)
    said, status = run()
    monkeypatch.undo()
    (at,) = [n for n, line in enumerate(said.splitlines()) if sentence in line]
    line, following = said.splitlines()[at : at + 2]
    assert line.startswith(level)
    assert advice in following
    assert status == (1 if level == "wrong" else 0)


def test_secrets_of_lost_and_of_old_keys(owner: User, settings: Settings) -> None:
    first, second = settings.ENCRYPTION_KEYS[0], "c2Vjb25kIGtleSBmb3IgdGhlIHRlc3RzLCAzMmJ5dGU="
    read_secrets(owner.pk)
    settings.ENCRYPTION_KEYS = [second, first]
    said, status = run()
    assert "1 stored secrets do not use the first key." in said
    assert status == 0
    settings.ENCRYPTION_KEYS = [second]
    said, status = run()
    assert "1 stored secrets cannot be decrypted." in said
    assert status == 1


def test_a_pooler_without_limits(settings: Settings) -> None:
    settings.POOLED_DATABASE = {"OPTIONS": {"options": "-c lock_timeout=0"}}
    said, status = run()
    assert "Connections of the pooler wait for locks without a limit." in said
    assert status == 1
    settings.POOLED_DATABASE = {"OPTIONS": {"options": "-c lock_timeout=2000"}}
    assert "The pooler answers, with limits of time." in run()[0]


def test_a_database_without_tables() -> None:
    """It goes on with what needs none."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA empty; SET LOCAL search_path TO empty")
    said, status = run()
    assert "The database lacks migrations." in said
    assert "→ Run `manage.py migrate`." in said
    assert "Redis answers" in said
    assert "stored secrets" not in said
    assert status == 1


def test_a_database_that_fails_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Any:
        raise OperationalError("the connection is lost\nmore")

    monkeypatch.setattr(database_checks, "ON_SERVER", (fail,))
    said, status = run()
    assert "wrong   PostgreSQL failed: the connection is lost\n" in said
    assert "Redis answers" in said
    assert status == 1
