"""Whatever is started with a wrong setting, the last line of its log says what to set."""

import os
import subprocess
import sys

import pytest

from tests.processes.stack import ROOT

UNREACHABLE = "The database cannot be reached; check DATABASE_URL:"


@pytest.mark.parametrize(
    "command",
    [
        ("-m", "front"),
        ("-m", "celery", "-A", "config", "worker"),
        ("manage.py", "migrate"),
    ],
    ids=lambda command: command[1],
)
@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [("REDIS_URL", "hello", "REDIS_URL cannot be used: it begins with none of redis://")],
)
def test_the_reason_is_the_last_line(
    command: tuple[str, ...], name: str, value: str, reason: str
) -> None:
    done = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, name: value},
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert done.returncode != 0
    assert reason in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        pytest.param(
            "{url}postgres",
            "The database lacks tables or columns. Run `manage.py migrate` first.",
            marks=pytest.mark.django_db,  # it needs the server
        ),
        ("postgres://127.0.0.1:1/x", f"{UNREACHABLE} connection failed"),
        ("postgres://app@nowhere.invalid/x", f"{UNREACHABLE} failed to resolve host 'nowhere.inv"),
    ],
)
@pytest.mark.parametrize("command", ["createapikey ada@example.org", "migrate"])
def test_a_command_without_its_database_says_so(url: str, sentence: str, command: str) -> None:
    if command == "migrate" and "{url}" in url:
        return  # it makes the tables
    server = os.environ["DATABASE_URL"].rpartition("/")[0] + "/"
    words = ["manage.py", *command.split()]
    for more, is_short in (([], True), (["--traceback"], False)):
        done = subprocess.run(
            [sys.executable, *words, *more],
            env={**os.environ, "DATABASE_URL": url.format(url=server)},
            cwd=ROOT,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
        )
        assert done.returncode == 1
        assert done.stderr.startswith(sentence) == is_short, done.stderr
        assert ("Traceback" in done.stderr) != is_short
        assert is_short == (len(done.stderr.splitlines()) == 1)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"SIGN_UP": "maybe"}, "SIGN_UP is 'maybe'; set it to one of: open, invited, closed, dom"),
        ({"SIGN_UP": "domains"}, "SIGN_UP_DOMAINS is not set"),
        ({"SIGN_UP": "domains", "SIGN_UP_DOMAINS": "a b"}, "an entry that is no domain"),
        ({"SIGN_UP": "domains", "SIGN_UP_DOMAINS": "a.org"}, "EMAIL_URL names no mail server"),
        ({"DATABASE_POOLER": "session"}, "DATABASE_POOLER is 'session'; set it to one of: trans"),
    ],
)
def test_settings_that_contradict_each_other(change: dict[str, str], reason: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import config.settings"],
        env={**os.environ, **change},
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert reason in done.stderr.splitlines()[-1]


def test_a_worker_and_beat_load_no_pages() -> None:
    """They cost half a second and 20 MB."""
    loaded = subprocess.run(
        [
            *(sys.executable, "-c"),
            "import sys; from config.celery import app; app.loader.import_default_modules();"
            "print(*sys.modules)",
        ],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout.split()
    assert "reviews.tasks" in loaded
    assert {"config.urls", "portal.urls", "rest_framework.views"}.isdisjoint(loaded)
