"""A worker that is killed, at each moment of an attempt, and one that is asked to stop."""

import signal
import threading
import time

from tests.faults.attempts import told
from tests.faults.receiver import Post, Receiver, receiving
from tests.faults.service import Service
from tests.faults.trial import Trial
from tests.waiting import wait_until

AFTER_LEASE = 15.0  # seconds within which an interrupted delivery is repeated
_BLOCKED = "SELECT pid FROM pg_stat_activity WHERE %(pid)s = ANY(pg_blocking_pids(pid))"


def killed_before_the_post(trial: Trial) -> str:
    service = trial.service
    with receiving() as receiver:
        with service.database() as database:
            # between its claim and its POST the worker reads the account's secrets
            database.execute("LOCK TABLE accounts_webhooksecret IN ACCESS EXCLUSIVE MODE")
            request_id = told(service, receiver.url)
            wait_until(lambda: is_claimed(service, request_id), 30)
            assert not receiver.posts
            service.killed("worker")
            killed_at = time.monotonic()
        return await_repetition(trial, receiver, request_id, killed_at, posts=1)


def killed_during_the_post(trial: Trial) -> str:
    service, gate = trial.service, threading.Event()
    with receiving() as receiver:
        receiver.before_answer = lambda _: gate.wait(30)
        request_id = told(service, receiver.url)
        wait_until(lambda: receiver.posts, 30)
        service.killed("worker")
        killed_at = time.monotonic()
        gate.set()
        return await_repetition(trial, receiver, request_id, killed_at, posts=2)


def killed_after_the_answer(trial: Trial) -> str:
    """The receiver's 200 is back, and a lock of ours keeps the worker from recording it."""
    service = trial.service
    with receiving() as receiver:
        with service.database() as database:

            def hold(post: Post) -> None:
                if len(receiver.posts) == 1:
                    lock = "SELECT FROM webhooks_delivery WHERE id = %s FOR UPDATE"
                    database.execute(lock, [post.webhook_id])

            receiver.before_answer = hold
            request_id = told(service, receiver.url)
            ours = database.info.backend_pid
            wait_until(lambda: service.rows(_BLOCKED, pid=ours), 30)
            service.killed("worker")
            killed_at = time.monotonic()
            # else the statement of the dead worker would go through once the lock is gone
            service.rows(f"SELECT pg_terminate_backend(pid, 5000) FROM ({_BLOCKED}) b", pid=ours)
        return await_repetition(trial, receiver, request_id, killed_at, posts=2)


def asked_to_stop(trial: Trial) -> str:
    """SIGTERM while four attempts are under way and twelve events wait behind them."""
    service, gate = trial.service, threading.Event()
    with receiving() as receiver:
        receiver.before_answer = lambda _: gate.wait(30)
        request_ids = [told(service, receiver.url) for _ in range(16)]
        wait_until(lambda: len(receiver.posts) == 4, 30)
        shutdowns = service.stack.output().count("Warm shutdown")
        pid = service.kill("worker", signal.SIGTERM)
        wait_until(lambda: service.stack.output().count("Warm shutdown") > shutdowns, 30)
        gate.set()
        wait_until(lambda: pid not in service.stack.processes(), 30)
        assert len(receiver.posts) == 4
        finished = service.events(request_ids).values()
        assert sum(each[0][1] == "delivered" for each in finished) == 4
        wait_until(lambda: service.all_delivered(request_ids), 60)
        assert sorted(receiver.ids()) == sorted(set(receiver.ids()))
    return "4 of 4 attempts under way recorded, 12 others delivered by the next worker, none twice"


def is_claimed(service: Service, request_id: str) -> bool:
    claimed = "SELECT 1 FROM webhooks_delivery WHERE subject_id = %(id)s AND claim_id IS NOT NULL"
    return bool(service.rows(claimed, id=request_id))


def await_repetition(
    trial: Trial, receiver: Receiver, request_id: str, killed_at: float, posts: int
) -> str:
    """Holds that the same event came again in time: same id, same bytes, a row per attempt."""
    service = trial.service
    wait_until(lambda: service.all_delivered([request_id]), service.lease + 2 * AFTER_LEASE)
    seconds = receiver.posts[-1].at - killed_at
    ((webhook_id, _, attempts, body),) = service.events([request_id])[request_id]
    assert receiver.ids() == [webhook_id] * posts
    assert {post.body for post in receiver.posts} == {body}
    assert attempts == 2
    assert seconds < service.lease + AFTER_LEASE
    return f"redelivered {seconds:.1f} s after the kill, same id, same bytes"
