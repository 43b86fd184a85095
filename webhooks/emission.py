"""Writes events: to the log, and for their receivers to the outbox.

An event goes to the URL of its request, if there is one, and to each endpoint of the account that
chose it. Each receiver has a delivery of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.db import connection

from accounts.models import MAX_ENDPOINTS
from db.columns import dumps
from web import call_ids
from webhooks import event_log
from webhooks.event_ids import event_id

# Of the names of what deliveries are about, by slot: each receiver has a row of its own.
SUFFIXES = ("", *(f"/{slot}" for slot in range(1, MAX_ENDPOINTS + 1)))
# Django's `bulk_create` takes 0.25 ms more for one event, and 25 ms for 200.
_ENQUEUE = """
INSERT INTO webhooks_delivery (id, account_id, event, subject_id, occurrence, url, host, body,
       traceparent, endpoint_id, state, next_attempt_at, failed_attempts, is_manual, created_at,
       call_id)
SELECT event.*, 'waiting', statement_timestamp(), 0, false, statement_timestamp(), %s::text
  FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::text[],
              %s::bytea[], %s::text[], %s::text[]) AS event
"""


def wants(endpoint: str, *, account: str, event: str, loop: str) -> str:
    """Builds the SQL condition that an endpoint wants an event. All arguments are SQL."""
    return (
        f"{endpoint}.account_id = {account} AND {endpoint}.is_on"
        f" AND {event} = ANY ({endpoint}.events)"
        f" AND ({endpoint}.loop_ids IS NULL OR {loop} = ANY ({endpoint}.loop_ids))"
    )


_WANTED = f"""
SELECT place, e.id, e.slot, e.url
  FROM unnest(%s::text[], %s::text[], %s::text[])
       WITH ORDINALITY AS event (account_id, name, loop_id, place)
  JOIN accounts_webhookendpoint e
    ON {wants("e", account="event.account_id", event="event.name", loop="event.loop_id")}
 ORDER BY place, e.slot
"""  # noqa: S608 (nothing in it comes from outside)
_LOG = f"WITH logged AS ({event_log.APPEND}) {_WANTED}"


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a subject of an account, named by its unique `occurrence`.

    It is sent to `url`, if there is one, and to the endpoints that want it from the loop. It
    continues the trace of `traceparent`.
    """

    account_id: str
    url: str | None
    name: str
    subject_id: str
    occurrence: str
    payload: dict[str, Any]
    traceparent: str | None = None
    loop_id: str | None = None

    @property
    def id(self) -> str:
        return self.identify(self.occurrence)

    @property
    def body(self) -> bytes:
        return dumps(self.payload).encode()

    def identify(self, occurrence: str) -> str:
        """Returns the id of the delivery to a receiver."""
        return event_id(
            subject_id=self.subject_id, occurrence=occurrence, account_id=self.account_id
        )


@dataclass(frozen=True, slots=True)
class Target:
    """A receiver of an event. The URL of a request has no endpoint, and slot 0."""

    url: str
    slot: int = 0
    endpoint_id: str | None = None


def emit(events: Sequence[Event]) -> None:
    """Logs the events, and enqueues them for their receivers, in the caller's transaction.

    Later changes do not affect the body, which is stored in the deliveries or in the log.
    """
    if not events:
        return
    bodies = [event.body for event in events]
    logged = [
        (event.id, event.account_id, event.name, None if event.url else body)
        for event, body in zip(events, bodies, strict=True)
    ]
    targets = _find_endpoints(_LOG, events, logged)
    for event, receivers in zip(events, targets, strict=True):
        if event.url:
            receivers.insert(0, Target(event.url))
    _enqueue(events, bodies, targets)


def emit_to_endpoints(event: Event) -> None:
    """Enqueues an event for the endpoints that want it, and for nobody else."""
    _enqueue([event], [event.body], _find_endpoints(_WANTED, [event]))


def enqueue(events: Sequence[Event], *, endpoint_id: str | None = None) -> None:
    """Inserts a delivery for each event to its URL, in the caller's transaction."""
    targets = [[Target(event.url or "", endpoint_id=endpoint_id)] for event in events]
    _enqueue(events, [event.body for event in events], targets)


def name_occurrences(occurrence: str) -> list[str]:
    """Returns the names that an occurrence can have in deliveries: one for each receiver."""
    return [f"{occurrence}{suffix}" for suffix in SUFFIXES]


def name_occurrences_sql(occurrences: str) -> str:
    """Builds SQL for the array of the names that an array of occurrences can have."""
    suffixes = ", ".join(f"'{suffix}'" for suffix in SUFFIXES)
    names = f"unnest({occurrences}) AS name CROSS JOIN unnest(ARRAY[{suffixes}]) AS suffix"
    return f"ARRAY(SELECT name || suffix FROM {names})"  # noqa: S608 (nothing comes from outside)


def host_of(url: str) -> str:
    """Returns host and port, which name the lane and the circuit of a delivery."""
    parts = urlsplit(url)
    return parts.netloc.rpartition("@")[2].lower()[:255]


def _find_endpoints(
    statement: str, events: Sequence[Event], logged: Sequence[tuple[Any, ...]] = ()
) -> list[list[Target]]:
    """Finds the endpoints that want each event, and writes the log if the statement does."""
    asked = [(event.account_id, event.name, event.loop_id) for event in events]
    columns = [*zip(*logged, strict=True), *zip(*asked, strict=True)]
    targets: list[list[Target]] = [[] for _ in events]
    with connection.cursor() as cursor:
        cursor.execute(statement, [list(column) for column in columns])
        for place, endpoint_id, slot, url in cursor.fetchall():
            targets[place - 1].append(Target(url, slot, endpoint_id))
    return targets


def _enqueue(
    events: Sequence[Event], bodies: Sequence[bytes], targets: Sequence[Sequence[Target]]
) -> None:
    rows = []
    for event, body, receivers in zip(events, bodies, targets, strict=True):
        for to in receivers:
            occurrence = f"{event.occurrence}{SUFFIXES[to.slot]}"
            rows.append(
                (
                    event.identify(occurrence), event.account_id, event.name, event.subject_id,
                    occurrence, to.url, host_of(to.url), body, event.traceparent, to.endpoint_id,
                )
            )  # fmt: skip
    if rows:
        columns = [list(column) for column in zip(*rows, strict=True)]
        with connection.cursor() as cursor:
            cursor.execute(_ENQUEUE, [call_ids.current(), *columns])
