"""examples/n8n/approved_refunds.json: its expressions, with real events and the real service."""

import json
import os
import subprocess
from typing import Any

import pytest
import requests
from reviewloop import Client

from accounts.models import User
from loops.models import Loop
from tests.clients import node
from tests.examples.approvals import decide
from tests.examples.conftest import EXAMPLES, PROGRAMS
from tests.webhooks.receivers import Received

pytestmark = pytest.mark.django_db(transaction=True)
WORKFLOW = EXAMPLES / "n8n" / "approved_refunds.json"
NOTHING = {"call": False, "last": False}


def follow(event: Received, url: str = "") -> dict[str, Any]:
    """What the nodes do with an event."""
    node.program("typescript", "bin/tsc")  # skips where there is no Node
    variables = {"WORKFLOW": str(WORKFLOW), "EVENT": event.body.decode(), "REVIEW_LOOP_URL": url}
    printed = subprocess.run(
        ["node", str(PROGRAMS / "n8n_nodes.mjs")],
        env={"PATH": os.environ["PATH"], **variables},
        check=True,
        capture_output=True,
        timeout=60,
    )
    found: dict[str, Any] = json.loads(printed.stdout)
    return found


def test_an_approved_call_is_redeemed_once(
    client: Client, key: str, loop: Loop, member: User
) -> None:
    edited = {"order": "1042", "amount": 25}
    event = decide(client, loop.pk, member, {"action": "edit", "arguments": edited})
    found = follow(event, client.url)
    assert found["last"] == {"refunding": edited}
    call = found["call"]
    headers = {**call["headers"], "Authorization": f"Bearer {key}"}
    statuses = [
        requests.post(call["url"], json=call["body"], headers=each, timeout=30).status_code
        for each in (headers, headers, {**headers, "Idempotency-Key": "another run"})
    ]
    assert (call["method"], statuses) == ("POST", [200, 200, 409])


@pytest.mark.parametrize("action", ["reject", "respond"])
def test_what_is_not_approved_does_nothing(
    client: Client, loop: Loop, member: User, action: str
) -> None:
    decision = {"action": action, "message": "No."}
    assert follow(decide(client, loop.pk, member, decision)) == NOTHING


def test_another_call_does_nothing(client: Client, loop: Loop, member: User) -> None:
    other = {"response_config": {"proposal": {"name": "close_account"}}}
    assert follow(decide(client, loop.pk, member, {"action": "approve"}, **other)) == NOTHING


def test_a_question_of_another_type_does_nothing(client: Client, loop: Loop, member: User) -> None:
    text = {"response_type": "text", "response_config": {}, "default_response": "no"}
    assert follow(decide(client, loop.pk, member, "yes", **text)) == NOTHING
