"""Redis emptied, stopped, and hung: nothing is lost."""

import signal
import time

from tests.faults.clients import Machine
from tests.faults.receiver import receiving
from tests.faults.trial import Trial
from tests.waiting import wait_until

CAUGHT_UP = 60.0  # seconds after the return of Redis
SLOW = 5.0  # seconds: a round that takes longer has waited for Redis
ROUND = 0.5  # seconds between two looks at the API


def redis_flushed(trial: Trial) -> str:
    service, machine = trial.service, trial.service.machine()
    with receiving() as receiver:
        request_ids = [machine.ask(callback_url=receiver.url) for _ in range(20)]
        for number, request_id in enumerate(request_ids):
            service.hasten([request_id], number / 10)
        for _ in range(3):
            posts = len(receiver.posts)
            trial.broker.flush()
            wait_until(lambda posts=posts: len(receiver.posts) > posts, 30)  # type: ignore[misc]
        wait_until(lambda: service.all_delivered(request_ids), CAUGHT_UP)
        assert sorted(receiver.ids()) == sorted(set(receiver.ids()))
    return f"{len(request_ids)} of {len(request_ids)} delivered over 3 flushes, once each"


def redis_down(trial: Trial) -> str:
    with receiving() as receiver:
        trial.broker.kill()
        try:
            made, slowest = use_the_api(trial, receiver.url, trial.scale.outage)
        finally:
            trial.broker.start()
        returned_at = time.monotonic()
        wait_until(lambda: trial.service.all_delivered(made), CAUGHT_UP)
        assert sorted(receiver.ids()) == sorted(set(receiver.ids()))
    seconds = time.monotonic() - returned_at
    return (
        f"down {trial.scale.outage:.0f} s: {len(made)} requests ended, slowest round of 5 calls"
        f" {slowest:.2f} s; all delivered {seconds:.1f} s after its return"
    )


def redis_hung(trial: Trial) -> str:
    """Stopped rather than gone: connections open, and nothing answers."""
    with receiving() as receiver:
        trial.broker.signal(signal.SIGSTOP)
        try:
            made, slowest = use_the_api(trial, receiver.url, trial.scale.outage / 2)
        finally:
            trial.broker.signal(signal.SIGCONT)
        returned_at = time.monotonic()
        wait_until(lambda: trial.service.all_delivered(made), CAUGHT_UP)
    seconds = time.monotonic() - returned_at
    return (
        f"hung {trial.scale.outage / 2:.0f} s: {len(made)} requests, slowest round of 5 calls"
        f" {slowest:.2f} s; all delivered {seconds:.1f} s after its return"
    )


def use_the_api(trial: Trial, callback_url: str, seconds: float) -> tuple[list[str], float]:
    """Asks, cancels and times out for so long; the ids, and the slowest
    round of five calls in seconds."""
    machine, over = trial.service.machine(), time.monotonic() + seconds
    stranger = Machine(trial.service.stack.site, "nobody's", "0" * 24)
    made: list[str] = []
    slowest = 0.0
    while time.monotonic() < over:
        started = time.monotonic()
        made += [machine.ask(callback_url=callback_url) for _ in range(2)]
        machine.cancel(made[-1])
        trial.service.hasten([made[-2]])
        assert machine.read(made[-2])["status"] == "timeout"
        assert stranger.call("GET", "/loops").status_code == 401
        slowest = max(slowest, time.monotonic() - started)
        assert slowest < SLOW
        time.sleep(ROUND)
    return made, slowest
