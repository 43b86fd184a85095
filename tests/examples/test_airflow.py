"""examples/airflow/approved_refunds.py: real events, the DAG in the real Airflow."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from reviewloop import Client

from accounts import secret_services
from accounts.models import User
from loops.models import Loop
from reviews.models import Receipt
from tests.examples.approvals import decide
from tests.examples.conftest import EXAMPLES, NOT_INSTALLED
from tests.processes.stack import ROOT
from tests.waiting import stretched
from tests.webhooks.receivers import Received, Receiver, Reply, receiving

pytestmark = pytest.mark.django_db(transaction=True)
PROGRAMS = ROOT / ".venv-airflow" / "bin"
EDIT = {"action": "edit", "arguments": {"order": "1042", "amount": 25}}
RECEIVE = """
import json, os, sys
from approved_refunds import receive
print(receive(sys.stdin.buffer.read(), json.loads(os.environ["HEADERS"])))
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an Airflow, with its database."""
    if not (PROGRAMS.parent / "made.stamp").exists():
        pytest.skip(NOT_INSTALLED)
    folder = tmp_path_factory.mktemp("airflow")
    run_in(folder, [str(PROGRAMS / "airflow"), "db", "migrate"]).check_returncode()
    return folder


def run_in(
    home: Path, command: list[str], typed: str | None = None, **variables: str
) -> "subprocess.CompletedProcess[str]":
    environment = {
        "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(EXAMPLES / "airflow"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "PYTHONPATH": str(EXAMPLES / "airflow"),
        **variables,
    }
    return subprocess.run(
        command,
        env=environment,
        input=typed,
        capture_output=True,
        encoding="utf-8",
        timeout=stretched(120),
    )


def run_dag(home: Path, client: Client, key: str, conf: object) -> str:
    """Runs the DAG to its end and returns what it printed."""
    words = ["dags", "test", "approved_refunds", "--conf", json.dumps(conf)]
    service = {"REVIEW_LOOP_URL": client.url, "REVIEW_LOOP_KEY": key}
    run = run_in(home, [str(PROGRAMS / "airflow"), *words], **service)
    return run.stdout + run.stderr


def receive(home: Path, event: Received, api: Receiver, secret: str) -> tuple[str, str]:
    """What `receive` returns for an event, and what it complains about."""
    variables = {
        "HEADERS": json.dumps(dict(event.headers)),
        "AIRFLOW_URL": f"http://127.0.0.1:{api.port}",
        "AIRFLOW_TOKEN": "a token",
        "WEBHOOK_SECRET": secret,
    }
    program = [str(PROGRAMS / "python"), "-c", RECEIVE]
    run = run_in(home, program, event.body.decode(), **variables)
    return run.stdout.splitlines()[-1] if run.stdout else "", run.stderr


def test_an_approved_call_runs_once(
    home: Path, client: Client, key: str, loop: Loop, owner: User, member: User
) -> None:
    event = decide(client, loop.pk, member, EDIT)
    secret = secret_services.read_secrets(owner.pk).current.text
    with receiving(lambda _: Reply(409 if len(api.got) > 1 else 200)) as api:  # the run exists
        for _ in range(2):
            assert receive(home, event, api, secret)[0] == "204"
        started = json.loads(api.got[0].body)
        assert api.got[0].path == "/api/v2/dags/approved_refunds/dagRuns"
        assert api.got[0].headers["authorization"] == "Bearer a token"
        status, complaints = receive(home, event, api, "another secret")
        assert (status != "204", len(api.got)) == (True, 2)
        assert "InvalidSignature" in complaints
    assert started["dag_run_id"] == started["conf"]["request_id"]
    forged = {**started["conf"], "response_data": {"arguments": {"order": "1"}}}
    assert "Refunding" not in run_dag(home, client, key, forged)
    assert Receipt.objects.get().redeemed_at is None
    assert "Refunding {'order': '1042', 'amount': 25}" in run_dag(
        home, client, key, started["conf"]
    )
    assert "Refunding" not in run_dag(home, client, key, started["conf"])


def test_what_is_not_approved_starts_nothing(
    home: Path, client: Client, loop: Loop, owner: User, member: User
) -> None:
    event = decide(client, loop.pk, member, {"action": "reject"})
    secret = secret_services.read_secrets(owner.pk).current.text
    with receiving() as api:
        assert receive(home, event, api, secret)[0] == "204"
        assert api.got == []
