"""Creates that are repeated under one Idempotency-Key while web processes are killed."""

import threading
import time
import uuid

import requests

from tests.faults.clients import QUESTION, Machine
from tests.faults.service import Service
from tests.faults.trial import Trial

CALLERS, REPEATS, KILLS = 10, 10, 3
CALLS = "SELECT coalesce(sum(calls), 0) FROM accounts_usage"


def killed_while_creating(trial: Trial) -> str:
    """A hundred creates under one key, racing; a web process is killed again and again."""
    service = trial.service
    before, charged = count(service), calls(service)
    key, bodies, broken = str(uuid.uuid4()), list[bytes](), list[str]()
    callers = [
        threading.Thread(target=create, args=[service.machine(), key, bodies, broken])
        for _ in range(CALLERS)
    ]
    for caller in callers:
        caller.start()
    for _ in range(KILLS):
        service.killed("web")
    for caller in callers:
        caller.join()
    assert len(bodies) == CALLERS * REPEATS
    assert len(set(bodies)) == 1
    assert count(service) == before + 1
    assert calls(service) == charged + 1
    return (
        f"one request, one charge, {len(bodies)} equal responses; {len(broken)} calls were repeated"
    )


def create(machine: Machine, key: str, bodies: list[bytes], broken: list[str]) -> None:
    machine.session.headers["Idempotency-Key"] = key
    body = {**QUESTION, "request_text": "Only once."}
    deadline = time.monotonic() + 60
    for _ in range(REPEATS):
        while True:
            assert time.monotonic() < deadline
            try:
                response = machine.call("POST", machine.loop_path, body)
            except requests.RequestException as error:
                broken.append(type(error).__name__)
                continue
            if response.status_code == 201:
                bodies.append(response.content)
                break
            assert response.status_code in (409, 503), response.text
            broken.append(str(response.status_code))


def count(service: Service) -> int:
    ((found,),) = service.rows(
        "SELECT count(*) FROM reviews_request WHERE request_text = 'Only once.'"
    )
    return int(found)


def calls(service: Service) -> int:
    ((found,),) = service.rows(CALLS)
    return int(found)
