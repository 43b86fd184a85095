"""Each kind of process has its own limits for locks and statements."""

import os
import subprocess
import sys

import pytest

from tests.processes.stack import ROOT

# Another test may have imported an entry point in this process.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PROCESS_KIND"}
SHOW = (
    "from django.conf import settings; print(settings.DATABASES['default']['OPTIONS']['options'])"
)


@pytest.mark.parametrize(
    ("entry", "lock", "statement"),
    [
        ("import config.asgi", 2000, 7000),
        ("import config.celery", 10000, 300000),
        ("import django; django.setup()", 30000, 0),  # manage.py
    ],
)
def test_the_entry_point_decides(entry: str, lock: int, statement: int) -> None:
    shown = subprocess.run(
        [sys.executable, "-c", f"{entry}\n{SHOW}"],
        cwd=ROOT,
        env={**ENVIRONMENT, "DJANGO_SETTINGS_MODULE": "config.settings"},
        check=True,
        capture_output=True,
        encoding="utf-8",
    ).stdout
    assert f"-c lock_timeout={lock} -c statement_timeout={statement}" in shown


def test_limits_that_contradict_each_other_are_refused() -> None:
    answer = subprocess.run(
        [sys.executable, "-c", "import config.asgi"],
        cwd=ROOT,
        env={**ENVIRONMENT, "WEB_LOCK_SECONDS": "8"},
        capture_output=True,
        encoding="utf-8",
    )
    assert (
        "WEB_DATABASE_SECONDS is 8; set it to more than 9 (WEB_LOCK_SECONDS + 1)." in answer.stderr
    )
