"""Thousands of events of one account for a silent receiver, while another account's are due."""

import contextlib
import time
from collections.abc import Iterator

from tests.faults import rogues
from tests.faults.attempts import told
from tests.faults.receiver import receiving
from tests.faults.service import PEOPLE, Service
from tests.faults.trial import Trial
from tests.waiting import wait_until

EVENTS, OTHERS = 5000, 20
# Written past the API, whose calls would take minutes.
_FLOOD = """
WITH fresh AS (
    SELECT left(md5(random()::text || n), 21) || right(%(account)s, 3) AS id, url
      FROM generate_series(1, %(count)s) n,
           unnest(%(urls)s::text[]) WITH ORDINALITY AS receiver (url, place)
     WHERE n %% %(hosts)s = place - 1
)
INSERT INTO webhooks_delivery (id, account_id, event, subject_id, occurrence, url, host, body,
       state, next_attempt_at, failed_attempts, is_manual, created_at)
SELECT id, %(account)s, 'request.completed', id, id || ':end', url, split_part(url, '/', 3), '{}',
       'waiting', statement_timestamp(), 0, false, statement_timestamp()
  FROM fresh
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
        account = block.enter_context(flooded(service, urls))
        wait_until(lambda: service.rows(_UNDER_WAY, account=account)[0][0] >= under_way, 30)
        seconds = []
        for number in range(OTHERS):
            told(service, receiver.url)
            asked_at = time.monotonic()
            wait_until(lambda n=number: len(receiver.posts) > n, 60)  # type: ignore[misc]
            seconds.append(receiver.posts[number].at - asked_at)
    assert max(seconds) < trial.scale.late
    return (
        f"{EVENTS} events to {hosts} silent host{'s' if hosts > 1 else ''}: {OTHERS} first attempts"
        f" of another account after {max(seconds):.2f} s at most"
    )


@contextlib.contextmanager
def flooded(service: Service, urls: list[str]) -> Iterator[str]:
    """The account whose thousands of events are due; they are given up at the end."""
    account = service.people[PEOPLE[0]]
    service.rows(_FLOOD, account=account, urls=urls, hosts=len(urls), count=EVENTS)
    try:
        yield account
    finally:
        service.rows(
            "UPDATE webhooks_delivery SET state = 'dead', claim_id = NULL"
            " WHERE account_id = %(account)s AND state = 'waiting'",
            account=account,
        )
