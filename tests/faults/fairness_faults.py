"""Thousands of events of one account for a silent receiver, while another account's are due."""

import contextlib
import json
import math
import statistics
import time
from collections.abc import Iterator

from tests.faults import rogues
from tests.faults.attempts import told
from tests.faults.receiver import Receiver, receiving
from tests.faults.service import PEOPLE, Service
from tests.faults.trial import Trial
from tests.waiting import wait_until

EVENTS, OTHERS, TOGETHER = 5000, 100, 5
BACKLOG, FRESH, SLOW = 20_000, 20, 0.05  # seconds
# Written past the API, whose calls would take minutes. Each became due a time before the next one.
_FLOOD = """
WITH fresh AS (
    SELECT left(md5(random()::text || n), 21) || right(%(account)s, 3) AS id, url, n
      FROM generate_series(1, %(count)s) n,
           unnest(%(urls)s::text[]) WITH ORDINALITY AS receiver (url, place)
     WHERE n %% %(hosts)s = place - 1
)
INSERT INTO webhooks_delivery (id, account_id, event, subject_id, occurrence, url, host, body,
       state, next_attempt_at, failed_attempts, is_manual, created_at)
SELECT id, %(account)s, 'request.completed', id, id || ':place ' || n, url,
       split_part(url, '/', 3), '{}', 'waiting',
       statement_timestamp() - make_interval(secs => (%(count)s - n) * %(apart)s::float),
       0, false, statement_timestamp()
  FROM fresh
"""
_PLACES = """
SELECT split_part(occurrence, ' ', 2)::int FROM webhooks_delivery
 WHERE id = ANY (%(ids)s) AND account_id = %(account)s AND occurrence LIKE '%%:place %%'
"""
_WAITING = """
SELECT count(*) FROM webhooks_delivery WHERE account_id = %(account)s AND state = 'waiting'
"""
_UNDER_WAY = """
SELECT count(*) FROM webhooks_attempt a JOIN webhooks_delivery d ON d.id = a.delivery_id
 WHERE d.account_id = %(account)s AND finished_at IS NULL
"""


def one_dead_host(trial: Trial) -> str:
    return others_wait(trial, hosts=1, under_way=4)


def twenty_dead_hosts(trial: Trial) -> str:
    return others_wait(trial, hosts=20, under_way=8)


def others_wait(trial: Trial, *, hosts: int, under_way: int) -> str:
    """How long another account's first attempts took, once so many of the silent were begun."""
    service = trial.service
    with contextlib.ExitStack() as block, receiving() as receiver:
        urls = [block.enter_context(rogues.rogue(rogues.silent)) for _ in range(hosts)]
        account = block.enter_context(flooded(service, account_of(service), urls))
        wait_until(lambda: service.rows(_UNDER_WAY, account=account)[0][0] >= under_way, 30)
        seconds: list[float] = []
        while len(seconds) < OTHERS:
            seconds += first_posts(service, receiver, TOGETHER)
    assert max(seconds) < trial.scale.late
    return (
        f"{EVENTS} events to {hosts} silent host{'s' if hosts > 1 else ''}: {OTHERS} first attempts"
        f" of another account, {spread(seconds)}"
    )


def first_posts(service: Service, receiver: Receiver, count: int) -> list[float]:
    """Seconds from the end of each of some requests to the first POST that says so."""
    asked = {}
    for _ in range(count):
        request_id = told(service, receiver.url)
        asked[request_id] = time.monotonic()

    def arrivals() -> dict[str, float]:
        posts = reversed(list(receiver.posts))
        return {json.loads(post.body).get("request_id"): post.at for post in posts}

    wait_until(lambda: asked.keys() <= arrivals().keys(), 60)
    arrived = arrivals()
    return [arrived[request_id] - at for request_id, at in asked.items()]


def spread(seconds: list[float]) -> str:
    """The median, the p99 (nearest rank) and the longest of some durations."""
    ordered = sorted(seconds)
    p99 = ordered[math.ceil(0.99 * len(ordered)) - 1]
    middle = statistics.median(ordered)
    return f"median {middle:.2f} s, p99 {p99:.2f} s, longest {ordered[-1]:.2f} s"


def account_of(service: Service) -> str:
    """The account that floods: a person's, and not the asker's."""
    return str(service.people[PEOPLE[0]])


def a_backlog_in_order(trial: Trial) -> str:
    """One receiver was away, and thousands of the asker's events wait for it when it is back."""
    service = trial.service
    ((asker,),) = service.rows(
        "SELECT creator_id FROM loops_loop WHERE id = %(id)s", id=service.loop_id
    )
    with receiving() as receiver, receiving() as other:
        receiver.before_answer = lambda _: time.sleep(SLOW)
        with flooded(service, asker, [receiver.url], count=BACKLOG, apart=1):
            wait_until(lambda: len(receiver.posts) > 20, 30)
            seconds = [first_posts(service, other, 1)[0] for _ in range(FRESH)]
            ((left,),) = service.rows(_WAITING, account=asker)
            posted = receiver.ids()
            places = [row[0] for row in service.rows(_PLACES, ids=posted, account=asker)]
    # a few are under way together
    assert all(abs(place - number) < 50 for number, place in enumerate(sorted(places)))
    assert left > BACKLOG / 2
    assert max(seconds) < trial.scale.late
    return (
        f"{BACKLOG} events waiting for a receiver that takes {SLOW * 1000:.0f} ms: {len(posted)} of"
        f" the oldest went out; meanwhile {FRESH} to another host, {spread(seconds)}"
    )


@contextlib.contextmanager
def flooded(
    service: Service, account: str, urls: list[str], count: int = EVENTS, apart: float = 0
) -> Iterator[str]:
    """The account whose thousands of events are due, so many seconds `apart`; they are given up at
    the end."""
    hosts = len(urls)
    service.rows(_FLOOD, account=account, urls=urls, hosts=hosts, count=count, apart=apart)
    try:
        yield account
    finally:
        service.rows(
            # in no order that the worker's claims could wait for, crosswise
            "UPDATE webhooks_delivery SET state = 'dead', claim_id = NULL WHERE id IN ("
            "SELECT id FROM webhooks_delivery"
            " WHERE account_id = %(account)s AND state = 'waiting' FOR UPDATE SKIP LOCKED)",
            account=account,
        )
