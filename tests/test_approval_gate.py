"""examples/approval_gate.py, run as a stranger would run it, while a member decides."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import requests
from django.conf import settings
from pytest_django.live_server_helper import LiveServer

from accounts.models import User
from loops.models import Loop
from loops.services import join_loop
from reviews.models import Receipt, Request
from reviews.services import answer_request
from tests.clients.conftest import SOURCE, finish
from tests.conftest import key_of
from tests.reviews.approvals import let_expire
from tests.waiting import wait_until

GATE = Path(__file__).resolve().parent.parent / "examples" / "approval_gate.py"


@pytest.fixture
def variables(live_server: LiveServer, owner: User, tmp_path: Path) -> dict[str, str]:
    keys = tmp_path / "keys.json"
    pinned = requests.get(f"{live_server.url}/.well-known/jwks.json", timeout=30)
    keys.write_bytes(pinned.content)
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(SOURCE),
        "REVIEW_LOOP_URL": f"{live_server.url}/v1",
        "REVIEW_LOOP_KEY": key_of(owner),
        "REVIEW_LOOP_KEYS": str(keys),
        "REVIEW_LOOP_ISSUER": settings.SITE_URL,
        "REVIEW_LOOP_STATE": str(tmp_path / "state"),
    }


def run(variables: dict[str, str], order: str = "1042") -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, GATE, order, "80"],
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def decide(person: User, decision: dict[str, Any]) -> None:
    wait_until(Request.objects.filter(status="pending").exists, 30)
    request = Request.objects.get(status="pending")
    join_loop(user=person, code=Loop.objects.get().invite_code)
    answer_request(request=request, reviewer_id=person.pk, answer=decision)


def test_what_a_person_changed_runs_once(variables: dict[str, str], member: User) -> None:
    gate = run(variables)
    changed = {"order": "1042", "amount": 25.5}
    decide(member, {"action": "edit", "arguments": changed})
    code, printed, complaints = finish(gate)
    assert code == 0, complaints
    assert printed == (
        f'Approved by {member.name}\nRefunding {{"order": "1042", "amount": 25.5}}\n'
    )
    code, printed, _ = finish(run(variables))  # finds the answer again
    assert (code, printed[:20]) == (0, "This was run before:")
    assert Request.objects.count() == 1


def test_what_a_person_rejected_does_not_run(variables: dict[str, str], member: User) -> None:
    gate = run(variables)
    decide(member, {"action": "reject"})
    assert finish(gate)[:2] == (0, "Rejected.\n")
    assert not Receipt.objects.exists()


def test_an_approval_that_was_found_too_late(
    variables: dict[str, str], member: User, owner: User
) -> None:
    gate = run(variables)
    decide(member, {"action": "approve"})
    finish(gate)
    request_id = Receipt.objects.get().pk
    let_expire(request_id)
    Receipt.objects.update(redeemed_at=None, redeemed_with=None)
    assert finish(run(variables))[:2] == (0, "Receipt has expired\n")
