"""Beat gone, two beats, two workers."""

import time

from tests.faults.receiver import receiving
from tests.faults.trial import Trial
from tests.waiting import wait_until


def beat_killed(trial: Trial) -> str:
    service, machine = trial.service, trial.service.machine()
    with receiving() as receiver:
        request_id = machine.ask(callback_url=receiver.url)
        service.killed("beat")
        killed_at = time.monotonic()
        service.hasten([request_id])
        assert seen_in_list(trial, request_id) == "timeout"
        wait_until(lambda: service.all_delivered([request_id]), 60)
        assert len(receiver.posts) == 1
    seconds = receiver.posts[0].at - killed_at
    return f"readers saw the timeout at once; event delivered {seconds:.1f} s after the kill"


def seen_in_list(trial: Trial, request_id: str) -> str:
    """The status that a list shows."""
    answer = trial.service.machine().call("GET", "/requests?limit=100")
    (found,) = (item for item in answer.json()["data"]["requests"] if item["id"] == request_id)
    return str(found["status"])


def two_of_each(trial: Trial) -> str:
    """Forty requests time out in the same moment, and twenty more are cancelled."""
    service, machine = trial.service, trial.service.machine()
    with service.another("beat"), service.another("worker"), receiving() as receiver:
        wait_until(lambda: trial.broker.has_worker("second"), 60)
        wait_until(lambda: any(service.second_folder.glob("beat-schedule*")), 60)
        request_ids = [machine.ask(callback_url=receiver.url) for _ in range(60)]
        service.hasten(request_ids[20:], 1.0)
        for request_id in request_ids[:20]:
            machine.cancel(request_id)
        wait_until(lambda: service.all_delivered(request_ids), 60)
        events = service.events(request_ids)
    assert all(len(each) == 1 and each[0][2] == 1 for each in events.values())
    assert sorted(receiver.ids()) == sorted(each[0][0] for each in events.values())
    return f"{len(request_ids)} ends, {len(request_ids)} outbox rows, as many POSTs"
