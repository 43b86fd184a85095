"""schemathesis over every operation, against a running server.

It knows nothing but /openapi.json, and sends what fits the document, what does not, and
sequences of calls that follow its links.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from accounts.models import User, WebhookEndpoint
from accounts.quota import Account
from api.openapi.examples import NEW
from api.openapi.pages import build_document
from loops.models import Loop
from loops.services import create_loop, join_loop
from reviews import services
from reviews.models import Request
from tests.accounts.tokens import token_of
from tests.conftest import account, key_of
from tests.processes.stack import ROOT
from tests.serving import serving
from webhooks.endpoints import create_endpoint

HOUR_FOR_EVERYTHING = 10_000_000


APPROVAL = {
    "response_type": "approval",
    "response_config": {"proposal": {"name": "refund", "arguments": {"order": 7}}},
    "default_response": {"action": "reject"},
}


def ask(loop: Loop, **changes: Any) -> Request:
    creator: User = loop.creator
    asker = Account(creator.pk, creator.email, creator.name, is_active=True)
    return services.create_request(loop_id=loop.pk, account=asker, fields={**NEW, **changes})


def completed(loop: Loop) -> Request:
    request = ask(loop)
    services.answer_request(request=request, reviewer_id=loop.creator_id, answer="refund")
    return request


def approved(loop: Loop) -> Request:
    request = ask(loop, **APPROVAL)
    decision = {"action": "approve"}
    services.answer_request(request=request, reviewer_id=loop.creator_id, answer=decision)
    return request


def endpoint_of(account: User) -> WebhookEndpoint:
    url = "https://receiver.example/hook"
    return create_endpoint(account=account, url=url, events=["request.created"], loop_ids=None)[0]


@pytest.fixture
def world(transactional_db: None, owner: User, outsider: User) -> dict[str, list[str]]:
    """Ids of what there is, for tests/fuzzing/hooks.py."""
    loops = [create_loop(owner_id=owner.pk, name=f"Loop {n}", icon="star") for n in range(30)]
    members = [account(f"member{n}") for n in range(12)]
    crowd, lasting = loops[0], loops[1]
    for member in members:
        join_loop(user=member, code=crowd.invite_code)
    foreign = create_loop(owner_id=outsider.pk, name="Foreign", icon="key")
    pending = [ask(lasting).pk for _ in range(100)]
    done = [completed(lasting).pk for _ in range(5)]
    return {
        "loops": [loop.pk for loop in loops[1:5]],
        "expendable_loops": [loop.pk for loop in loops[5:]],
        "crowded_loops": [crowd.pk],
        "members": [owner.pk, *(member.pk for member in members)],
        "requests": [*pending, *done],
        "pending_requests": pending,
        "completed_requests": done,
        "approved_requests": [approved(lasting).pk for _ in range(5)],
        "endpoints": [endpoint_of(owner).pk for _ in range(2)],
        "strangers": [foreign.pk, ask(foreign).pk],
    }


def run(
    site: str, key: str, token: str, world: dict[str, list[str]], folder: Path
) -> tuple[int, str]:
    """The exit status of schemathesis and what it printed; leaves `calls.har` in the folder."""
    command: list[str | Path] = [
        *(Path(sys.executable).with_name("st"), "--no-color"),
        *("--config-file", Path(__file__).with_name("schemathesis.toml")),
        *("run", f"{site}/openapi.json", "--url", site, "--suppress-health-check", "all"),
        *("--report", "har", "--report-har-path", folder / "calls.har"),
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "FUZZING_KEY": key,
        "FUZZING_TOKEN": token,
        "FUZZING_WORLD": json.dumps(world),
    }
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", timeout=300
    )
    return done.returncode, done.stdout + done.stderr


def operations() -> list[tuple[re.Pattern[str], str, dict[str, Any]]]:
    """Of every operation the addresses, the method and the description."""
    return [
        (re.compile(re.sub(r"{\w+}", "[^/?]+", path) + "/?"), method, operation)
        for path, methods in json.loads(build_document())["paths"].items()
        for method, operation in methods.items()
    ]


def reached(calls: list[dict[str, Any]]) -> set[tuple[str, int]]:
    """Which operation answered with which status."""
    met, known = set(), operations()
    for call in calls:
        path = urlsplit(call["request"]["url"]).path
        for address, method, operation in known:
            if method == call["request"]["method"].lower() and address.fullmatch(path):
                met.add((operation["operationId"], call["response"]["status"]))
    return met


def to_be_reached() -> set[tuple[str, int]]:
    """Every success, every malformed call, every bad key.

    But for the success of what uses up its target: whether a call meets one that is left depends
    on what came before, and tests/api holds those.
    """
    return {
        (operation["operationId"], int(status))
        for _, method, operation in operations()
        for status in operation["responses"]
        if status in ("400", "401")
        or (
            status in ("200", "201")
            and method != "delete"
            and operation["operationId"] != "redeemReceipt"
        )
    }


def test_every_answer_is_in_the_document(
    world: dict[str, list[str]], owner: User, tmp_path: Path
) -> None:
    key = key_of(owner, hourly_limit=HOUR_FOR_EVERYTHING)
    # Nobody answers here, so no call should wait for it, and no stream for events.
    with serving(tmp_path / "server.log", "--waiting", "0", "--streams", "0") as site:
        status, printed = run(site, key, token_of(owner), world, tmp_path)
    assert status == 0, printed
    calls = json.loads((tmp_path / "calls.har").read_text(encoding="utf-8"))["log"]["entries"]
    missing = to_be_reached() - reached(calls)
    assert not missing, (missing, printed)
    assert "api.failed" not in (tmp_path / "server.log").read_text(encoding="utf-8")
