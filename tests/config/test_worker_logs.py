"""The worker's logs are those of LOG_LEVEL and LOG_FORMAT, however Celery is started."""

import json
import os
import subprocess
import sys

import pytest

from tests.processes.stack import ROOT

SCRIPT = """
from config.celery import app
import django, structlog
django.setup()
app.log.setup(loglevel="ERROR", redirect_stdouts=True)
log = structlog.get_logger("outbox.dispatcher")
log.info("webhook.attempted", delivery=7)
log.debug("hidden")
"""


@pytest.mark.parametrize(("level", "count"), [("info", 1), ("DEBUG", 2), ("warning", 0)])
def test_the_level_is_ours(level: str, count: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "LOG_LEVEL": level, "LOG_FORMAT": "json"},
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    ours = [line for line in lines if line["logger"] == "outbox.dispatcher"]
    assert len(ours) == count
