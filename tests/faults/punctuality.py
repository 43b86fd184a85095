"""Deadlines and leases end within the second, and readers see it at once."""

import json
from datetime import UTC, datetime
from typing import Any

from tests.faults.receiver import receiving
from tests.faults.trial import Trial
from tests.waiting import wait_until


def timeouts_on_time(trial: Trial) -> str:
    """Forty requests time out over two seconds, while readers look on."""
    service, machine = trial.service, trial.service.machine()
    with receiving() as receiver:
        request_ids = [machine.ask(callback_url=receiver.url) for _ in range(40)]
        for number, request_id in enumerate(request_ids):
            service.hasten([request_id], 2 + number / 20)
        reads = 0
        while not service.all_delivered(request_ids):
            asked_at = datetime.now(UTC)
            items = machine.call("GET", "/requests?limit=100").json()["data"]["requests"]
            late = [item["id"] for item in items if is_open(item) and deadline(item) <= asked_at]
            assert not late, late
            reads += 1
        bodies = [json.loads(post.body) for post in receiver.posts]
    lateness = [(moment(each["timestamp"]) - deadline(each["data"]["request"])) for each in bodies]
    worst = max(each.total_seconds() for each in lateness)
    assert len(bodies) == 40
    assert worst < trial.scale.late
    return f"settled at most {worst:.2f} s late; {reads} lists read meanwhile, none behind"


def is_open(item: dict[str, Any]) -> bool:
    return item["status"] in ("pending", "claimed")


def deadline(item: dict[str, Any]) -> datetime:
    return moment(item["timeout_at"])


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def leases_on_time(trial: Trial) -> str:
    """Ten claims lapse: to readers at once, in the rows soon after."""
    service, machine, person = trial.service, trial.service.machine(), trial.service.person()
    request_ids = [machine.ask() for _ in range(10)]
    for request_id in request_ids:
        assert person.claim(request_id).status_code == 303
    service.rows(
        "UPDATE reviews_request SET claim_expires_at = statement_timestamp() + interval '1 second'"
        " WHERE id = ANY(%(ids)s)",
        ids=request_ids,
    )
    worst = 0.0

    def all_free() -> bool:
        nonlocal worst
        held = service.rows(
            "SELECT extract(epoch FROM statement_timestamp() - claim_expires_at)::float"
            " FROM reviews_request WHERE id = ANY(%(ids)s) AND status = 'claimed'",
            ids=request_ids,
        )
        worst = max([worst, *(seconds for (seconds,) in held)])
        if held and worst > 0:
            assert machine.read(request_ids[0])["status"] == "pending"
        return not held

    wait_until(all_free, 30)
    assert worst < trial.scale.late
    return f"given back at most {worst:.2f} s late; pending to readers at once"
