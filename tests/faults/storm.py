"""Kills processes at random while clients work, and records the history."""

import random
import signal
import threading
import time
from dataclasses import dataclass

import psycopg

from tests.faults.history import Delivery, History, Row, Usage, count
from tests.faults.receiver import Receiver, receiving
from tests.faults.service import PEOPLE, Service
from tests.faults.witnesses import Asker, Ground, Reader, Reviewer, Witness
from tests.waiting import wait_until

VICTIMS = ("web", "worker", "beat", "postgres", "redis")
MAX_DEADLINE = 60.0  # seconds: that of every request
CALM = 60.0  # seconds, beside the lease, for everything to be delivered


@dataclass(frozen=True)
class Storm:
    """How long it lasts and how far apart the kills are, in seconds; the seed picks them."""

    seconds: float
    pause: tuple[float, float]
    seed: int
    hurry: float | None = None


@dataclass(frozen=True)
class Aftermath:
    """What was killed how often, and what the clients lived through."""

    kills: dict[str, int]
    history: History


def weather(service: Service, storm: Storm) -> Aftermath:
    """Lets the storm pass over the service, and waits until everything is delivered."""
    with receiving() as receiver:
        ground = Ground(service, receiver.url, storm.seed, storm.hurry)
        witnesses: list[Witness] = [Asker(ground, f"asker {n}") for n in (1, 2)]
        witnesses += [Reader(ground, f"reader {n}") for n in (1, 2)]
        kills = rage(storm, ground, [*witnesses, *(Reviewer(ground, name) for name in PEOPLE)])
        if hurry := storm.hurry:
            wait_until(lambda: hastened(service, hurry), CALM)
        wait_until(lambda: settled(service), MAX_DEADLINE + service.lease + CALM)
        return Aftermath(kills, gather(ground, receiver))


def rage(storm: Storm, ground: Ground, witnesses: list[Witness]) -> dict[str, int]:
    """Clients and killer side by side; how often each process was killed."""
    chance, kills = random.Random(storm.seed), list[str]()
    faults: list[BaseException] = []

    def work(witness: Witness) -> None:
        try:
            witness.run()
        except BaseException as fault:
            faults.append(fault)
            ground.over.set()

    threads = [threading.Thread(target=work, args=[witness]) for witness in witnesses]
    for thread in threads:
        thread.start()
    until = time.monotonic() + storm.seconds
    while time.monotonic() < until and not ground.over.wait(chance.uniform(*storm.pause)):
        kills += (struck := strike(ground.service, chance))
        if "postgres killed" in struck:
            ground.crashes.append(time.time())
    ground.over.set()
    for thread in threads:
        thread.join(60)
    if faults:
        raise faults[0]
    return count(kills)


def strike(service: Service, chance: random.Random) -> list[str]:
    """Kills a process, where it is alive: the supervisor may not have revived it yet."""
    name, is_gentle = chance.choice(VICTIMS), chance.random() < 0.3
    if not service.pids(name):
        return []
    if name == "postgres" and is_gentle:
        service.kill(name, signal.SIGINT)
        return ["postgres restarted"]
    service.kill(name)
    return [f"{name} killed"]


def hastened(service: Service, seconds: float) -> bool:
    """Brings every deadline near; not while the last blow still keeps the database away."""
    try:
        service.hasten(open_requests(service), seconds)
    except psycopg.OperationalError:
        return False
    return True


def settled(service: Service) -> bool:
    """Whether every request has ended and every event has arrived, as far as can be seen."""
    waiting = "SELECT 1 FROM webhooks_delivery WHERE state <> 'delivered'"
    try:
        return not open_requests(service) and not service.rows(waiting)
    except psycopg.OperationalError:
        return False


def open_requests(service: Service) -> list[str]:
    """The ids of those that have not ended."""
    rows = service.rows("SELECT id FROM reviews_request WHERE status IN ('pending', 'claimed')")
    return [request_id for (request_id,) in rows]


def gather(ground: Ground, receiver: Receiver) -> History:
    """What the clients saw, beside what the database and the receiver hold in the end."""
    requests = ground.service.rows(
        "SELECT id, status, response_data, extract(epoch FROM timeout_at)::float, claim_count"
        " FROM reviews_request"
    )
    (usage,) = ground.service.rows(
        "SELECT sum(calls)::int, sum(credits)::int, count(DISTINCT hour) = 1 FROM accounts_usage"
    )
    outbox = ground.service.rows("SELECT subject_id, occurrence, id, body FROM webhooks_delivery")
    return History(
        calls=ground.calls,
        rows={row[0]: Row(row[0], (row[1], row[2]), row[3], row[4]) for row in requests},
        outbox=[Delivery(*row) for row in outbox],
        posts=[(post.webhook_id, post.body) for post in receiver.posts],
        listings=ground.listings,
        charges=ground.charges,
        crashes=ground.crashes,
        usage=Usage(*usage),
    )
