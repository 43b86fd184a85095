"""What a service over a cluster lives through when a node fails, and what it cost.

`python -m tests.faults.failover_page` runs this, and writes its section of docs/reliability.md.
"""

import itertools
import os
import signal
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import requests

from tests.faults.clients import QUESTION
from tests.faults.cluster import Cluster, ClusteredService, clustered
from tests.faults.receiver import Receiver, receiving
from tests.waiting import wait_until

CALLERS = 4
CALM = 3.0  # seconds of calls before a blow, and after everything is back
AWAY = 40.0  # seconds for which a node is gone, more than Patroni waits for it
WHOLE_WITHIN = 120.0  # seconds
DELIVERED_WITHIN = 75.0  # seconds: the lease of a webhook, and 15
WAITING = """
SELECT d.id, d.failed_attempts, d.claim_id IS NOT NULL AS is_claimed, d.next_attempt_at,
       a.started_at, a.finished_at, a.error, clock_timestamp()
  FROM webhooks_delivery d LEFT JOIN webhooks_attempt a ON a.delivery_id = d.id
 WHERE d.state <> 'delivered' ORDER BY d.id, a.id LIMIT 20
"""

Blow = Callable[[Cluster], Callable[[], None]]
"""Does harm, and returns what ends it."""


@dataclass
class Record:
    """What callers were told: when each call was acknowledged, and of which requests."""

    at: list[float] = field(default_factory=list)
    created: list[str] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    refused: int = 0


@dataclass(frozen=True)
class Failover:
    """A run: the longest time without an acknowledged write, how long the cluster took to be whole
    again after what failed was back, how long afterwards the last event was delivered (seconds),
    and what was lost."""

    name: str
    acknowledged: int
    refused: int
    pause: float
    whole: float
    lost: int
    doubled: int
    late: float


class Failed(Exception):
    """A run that did not end as it must: its name, and what happened."""


def nothing() -> None: ...


def switch_over(cluster: Cluster) -> Callable[[], None]:
    cluster.switch_over()
    return nothing


def crash_primary(cluster: Cluster) -> Callable[[], None]:
    os.kill(cluster.postmaster(cluster.name_of("leader")), signal.SIGKILL)
    return nothing


def lose_node(cluster: Cluster, role: str) -> Callable[[], None]:
    """The node is gone as if its power was: PostgreSQL is killed, and Patroni says nothing."""
    name = cluster.name_of(role)
    patroni = cluster.patroni(name)
    os.kill(patroni, signal.SIGSTOP)
    os.kill(cluster.postmaster(name), signal.SIGKILL)
    return lambda: os.kill(patroni, signal.SIGCONT)


def lose_redis(cluster: Cluster) -> Callable[[], None]:
    pid = cluster.primary_redis()
    os.kill(pid, signal.SIGSTOP)
    return lambda: os.kill(pid, signal.SIGCONT)


BLOWS: dict[str, tuple[Blow, float]] = {
    "Planned switch to the standby": (switch_over, 0.0),
    "PostgreSQL of the primary killed (-9)": (crash_primary, 0.0),
    "The primary's node gone": (lambda cluster: lose_node(cluster, "leader"), AWAY),
    "The standby's node gone": (lambda cluster: lose_node(cluster, "sync_standby"), AWAY),
    "The primary Redis gone": (lose_redis, 20.0),
}


def measure(folder: Path, names: list[str], keep: Callable[[Failover], None]) -> None:
    """Strikes these blows under load, one after another. Raises NotTried, and Failed if a write was
    lost or doubled, a process of the service had to be started again, or a node stayed away."""
    with clustered(folder) as (cluster, service), receiving() as receiver:
        for name in names:
            try:
                keep(strike(name, cluster, service, receiver))
            except AssertionError as error:
                raise Failed(name, f"{error}\n{cluster.evidence()}") from error


def strike(name: str, cluster: Cluster, service: ClusteredService, receiver: Receiver) -> Failover:
    blow, away = BLOWS[name]
    over, records = threading.Event(), [Record() for _ in range(CALLERS)]
    with ThreadPoolExecutor(CALLERS) as pool:
        callers = [pool.submit(call, service, receiver.url, each, over) for each in records]
        try:
            time.sleep(CALM)  # of load, not for a condition
            mend = blow(cluster)
            time.sleep(away)
            mend()
            mended = time.monotonic()
            wait_until(cluster.is_whole, WHOLE_WITHIN)
            whole = time.monotonic() - mended
            time.sleep(CALM)
        finally:
            over.set()
        for caller in callers:
            caller.result()
    return judge(name, service, records, whole)


def call(service: ClusteredService, hook: str, record: Record, over: threading.Event) -> None:
    """Creates requests and cancels each, as our libraries do: with a key, until it is done."""
    with requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {service.key}"
        session.trust_env = False
        session.verify = service.installation.authority.file
        base = f"{service.installation.site}/v1/api"
        path = f"{base}/loops/{service.loop_id}/requests"
        while not over.is_set():
            answer = until_done(session, "POST", path, record, {**QUESTION, "callback_url": hook})
            made = answer.json()["data"]["request_id"]
            record.created.append(made)
            if until_done(session, "DELETE", f"{base}/requests/{made}", record).ok:
                record.cancelled.append(made)


def until_done(
    session: requests.Session, method: str, url: str, record: Record, body: object = None
) -> requests.Response:
    """Repeats a call that got no answer, or one that asks to try again."""
    headers = {"Idempotency-Key": str(uuid.uuid4())} if method == "POST" else {}
    while True:
        with suppress(requests.ConnectionError, requests.Timeout):
            answer = session.request(method, url, json=body, headers=headers, timeout=30)
            if answer.status_code not in (409, 502, 503, 504):
                assert answer.status_code in (200, 201, 400, 404), answer.text
                record.at.append(time.monotonic())
                return answer
        record.refused += 1
        time.sleep(0.1)


def judge(name: str, service: ClusteredService, records: list[Record], whole: float) -> Failover:
    """Compares what callers were told with what is stored, and with what was delivered."""
    created = [each for record in records for each in record.created]
    cancelled = [each for record in records for each in record.cancelled]
    at = sorted(each for record in records for each in record.at)
    with psycopg.connect(service.environment["DATABASE_URL"]) as connection:
        stored_rows = connection.execute("SELECT id, status FROM reviews_request").fetchall()
        rows: dict[str, str] = dict(stored_rows)
        stored = {each for each in created if each in rows}
        lost = len(created) - len(stored)
        lost += sum(rows.get(each) != "cancelled" for each in cancelled)
        (known,) = connection.execute(
            "SELECT count(*) FROM reviews_request WHERE id < %s", [min(created)]
        ).fetchone() or (0,)
        late = await_deliveries(connection)
    assert service.installation.is_ready()
    pause = max((b - a for a, b in itertools.pairwise(at)), default=0.0)
    refused = sum(record.refused for record in records)
    doubled = len(rows) - known - len(created)
    assert (lost, doubled) == (0, 0), f"{name}: {lost} lost, {doubled} doubled"
    return Failover(name, len(at), refused, pause, whole, lost, doubled, late)


def await_deliveries(connection: psycopg.Connection) -> float:
    """Waits until every event is delivered, and returns the seconds."""
    begun = time.monotonic()
    while rows := connection.execute(WAITING).fetchall():
        late = time.monotonic() - begun
        told = "\n".join(map(str, rows))
        assert late < DELIVERED_WITHIN, f"not delivered after {late:.0f} s:\n{told}"
        time.sleep(0.1)
    return time.monotonic() - begun
