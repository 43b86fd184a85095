"""Webhooks as a channel of the outbox. Test events are a second channel on the same table.

The row of each attempt is inserted with the claim, before the POST. One without an end was
interrupted: the next claim of its delivery closes it.
"""

import threading
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

import structlog
from django.conf import settings
from django.db import connection
from psycopg.types.json import Json

from accounts import endpoint_services, vault
from accounts.secret_services import Secrets, read_secrets
from db.columns import dumps
from db.ids import owned_id_sql
from db.outages import retry_until
from outbox.channel import ONE_LANE, Channel
from outbox.dispatcher import Dispatcher
from outbox.items import Claimed, Item, Outcome, Result
from web import metrics
from webhooks import posting
from webhooks.circuits import CLOSE, FAILURES_TO_OPEN, OPEN_LATER
from webhooks.failing_hosts import NOTE_FAILURE, NOTE_SUCCESS
from webhooks.failure_texts import ENDPOINT_OFF, SECRET_UNREADABLE
from webhooks.models import TEST_EVENT
from webhooks.posting import Exchange, Post

# with the first one at once, twelve attempts over about three days
DELAYS = (5, 30, 120, 600, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
INTERRUPTED = "Interrupted: no result was recorded in time."
TESTS_AT_ONCE = 2  # of an account
log = structlog.get_logger(__name__)

_LOAD = f"""
WITH claimed AS (
    SELECT d.*, next_attempt_at - make_interval(secs => %(lease)s::float) AS begun_at
      FROM webhooks_delivery d WHERE id = ANY (%(ids)s::text[])
), closed AS (
    UPDATE webhooks_attempt SET finished_at = begun_at, error = %(interrupted)s
      FROM claimed WHERE delivery_id = claimed.id AND finished_at IS NULL
), begun AS (
    INSERT INTO webhooks_attempt (id, account_id, delivery_id, is_manual, started_at, error)
    SELECT {owned_id_sql("account_id")}, account_id, id, is_manual, begun_at, '' FROM claimed
    RETURNING id, delivery_id
)
SELECT claimed.id, begun.id, host, url, body, traceparent, endpoint_id, call_id
  FROM claimed JOIN begun ON delivery_id = claimed.id
"""  # noqa: S608 (nothing in it comes from outside)
_ENDED = f""", circuit AS ({OPEN_LATER}), closed AS ({CLOSE}),
failed AS ({NOTE_FAILURE}), succeeded AS ({NOTE_SUCCESS}), ended AS (
    UPDATE webhooks_attempt
       SET finished_at = statement_timestamp(), status_code = %(status)s, error = %(error)s,
           request_headers = %(request_headers)s, response_headers = %(response_headers)s,
           response_body = %(response_body)s
      FROM fenced WHERE webhooks_attempt.id = %(attempt_id)s
)"""  # noqa: S608


class Webhook(Channel[Post]):
    """Deliveries: a lane is a host of an account, and its circuit says whether it may send."""

    name = "webhook"
    table = "webhooks_delivery"
    waiting = f"state = 'waiting' AND event <> '{TEST_EVENT}'"
    lane = "host"
    joins = """LEFT JOIN webhooks_circuit AS circuit
        ON circuit.account_id = lanes.account AND circuit.host = lanes.lane"""
    is_suspect = "circuit.failures IS NOT NULL"
    per_lane = f"""CASE WHEN circuit.open_until > statement_timestamp() THEN 0
        WHEN circuit.failures >= {FAILURES_TO_OPEN} THEN 1 ELSE %(per_host)s END"""
    sent = """UPDATE webhooks_delivery AS entry SET state = 'delivered', claim_id = NULL,
        is_manual = false, delivered_at = statement_timestamp()"""
    failed = """UPDATE webhooks_delivery AS entry SET state = 'dead', claim_id = NULL,
        is_manual = false, failed_attempts = failed_attempts + 1"""
    retried = ", is_manual = false"
    follows: ClassVar[Mapping[Result, str]] = MappingProxyType(dict.fromkeys(Result, _ENDED))
    given_back = """, undone AS (
        DELETE FROM webhooks_attempt USING fenced
         WHERE delivery_id = fenced.id AND finished_at IS NULL)"""
    delays: ClassVar[Sequence[int]] = DELAYS
    counts: ClassVar[bool] = True  # for the circuit, and for the outages that accounts hear of

    @property
    def threads(self) -> int:
        return int(settings.WEBHOOK_THREADS)

    @property
    def lease(self) -> float:
        return float(settings.WEBHOOK_LEASE_SECONDS)

    @property
    def longest(self) -> float:
        return float(settings.WEBHOOK_TIMEOUT_SECONDS)

    @property
    def scale(self) -> float:
        return float(settings.WEBHOOK_SCHEDULE_SCALE)

    def claim_params(self) -> dict[str, Any]:
        return {"per_host": settings.WEBHOOK_PER_HOST}

    def load(self, claimed: Sequence[Claimed]) -> list[Item[Post]]:
        params: dict[str, Any] = {
            "ids": [row.id for row in claimed],
            "lease": self.lease,
            "interrupted": INTERRUPTED,
        }
        with connection.cursor() as cursor:
            cursor.execute(_LOAD, params)
            posts = {
                pk: (Post(pk, attempt_id, host, url, bytes(body), *others), call_id)
                for pk, attempt_id, host, url, body, *others, call_id in cursor.fetchall()
            }
        return [row.to_item(*posts[row.id]) for row in claimed]

    def send(self, item: Item[Post], stopping: threading.Event) -> Outcome:
        """Signs with the secrets that the receiver has at this moment, and posts.

        Where they cannot be read, nothing is sent, and to an endpoint that is off or deleted
        nothing ever is: this look is the last step before the attempt begins.
        """
        try:
            secrets = retry_until(
                lambda: read_secrets_for(item.content, account_id=item.account),
                until=self.may_begin_until(item),
                stopping=stopping,
            )
        except vault.Unreadable:
            return Outcome(Result.RETRY, str(SECRET_UNREADABLE), details=Exchange())
        if secrets is None:
            return Outcome(Result.FAILED, str(ENDPOINT_OFF), details=Exchange(is_attempt=False))
        return posting.post(item.content, secrets)

    def params(self, item: Item[Post], outcome: Outcome) -> dict[str, Any]:
        exchange: Exchange = outcome.details or Exchange()
        counts = self.counts and exchange.is_attempt
        return {
            "account_id": item.account,
            "host": item.content.host,
            "attempt_id": item.content.attempt_id,
            "delivered": outcome.result == Result.SENT,
            "counts": counts,
            "unreachable": outcome.is_unreachable and counts,
            "responded": exchange.status is not None,
            "pause": float(settings.WEBHOOK_PAUSE_SECONDS),
            "error": outcome.error,
            "status": exchange.status,
            "request_headers": as_json(exchange.request_headers),
            "response_headers": as_json(exchange.response_headers),
            "response_body": exchange.response_body,
        }

    def note(self, item: Item[Post], outcome: Outcome, result: Result | None) -> None:
        state = {Result.SENT: "delivered", Result.FAILED: "dead", Result.RETRY: "waiting"}
        exchange: Exchange = outcome.details or Exchange()
        log.info(
            "webhook.attempted" if result else "webhook.lease_lost",
            delivery=item.content.delivery_id,
            state=state.get(result or outcome.result),
            status=exchange.status,
            error=outcome.error,
        )
        metric = {Result.SENT: "delivered", Result.FAILED: "dead", Result.RETRY: "failed"}
        metrics.note_attempt(metric[result or outcome.result])


class TestEvent(Webhook):
    """Test events: each is attempted once, waits for no backlog, and passes an open circuit.

    Its failure opens none, because its host may never have responded.
    """

    __test__ = False  # for pytest
    name = "webhook test"
    waiting = f"""state = 'waiting' AND event = '{TEST_EVENT}'
        AND (claim_id IS NULL OR next_attempt_at > statement_timestamp())"""
    lane = ONE_LANE
    joins = ""
    is_suspect = "false"
    per_lane = str(TESTS_AT_ONCE)
    delays: ClassVar[Sequence[int]] = ()
    counts: ClassVar[bool] = False

    @property
    def threads(self) -> int:
        return 2 * TESTS_AT_ONCE

    @property
    def scale(self) -> float:
        return 1.0


def read_secrets_for(post: Post, *, account_id: str) -> Secrets | None:
    """Returns the secrets that sign for a receiver; None if its endpoint is off or deleted.

    Raises vault.Unreadable.
    """
    if post.endpoint_id is None:
        return read_secrets(account_id)
    return endpoint_services.read_secrets(post.endpoint_id, account_id=account_id)


def as_json(value: Mapping[str, str] | None) -> Json | None:
    """The parameter for a JSON column."""
    return None if value is None else Json(value, dumps=dumps)


WEBHOOK, TEST = Webhook(), TestEvent()
DISPATCHER, TESTS = Dispatcher(WEBHOOK), Dispatcher(TEST)
