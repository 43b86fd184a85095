"""Reads what the service recorded about an attempt."""

from dataclasses import dataclass

from tests.faults.service import Rows, Service
from tests.waiting import wait_until

_FIRST = """
SELECT a.status_code, a.error, extract(epoch FROM a.finished_at - a.started_at)::float,
       coalesce(octet_length(a.response_body), 0), d.state,
       extract(epoch FROM d.next_attempt_at - a.finished_at)::float
  FROM webhooks_attempt a JOIN webhooks_delivery d ON d.id = a.delivery_id
 WHERE d.subject_id = %(request_id)s AND a.finished_at IS NOT NULL ORDER BY a.started_at LIMIT 1
"""


@dataclass(frozen=True)
class Attempt:
    """The first attempt at an event, as soon as it had ended: `kept` bytes of the answer, and
    `wait` seconds until the next attempt (where `state` is waiting)."""

    status: int | None
    error: str
    seconds: float
    kept: int
    state: str
    wait: float


def told(service: Service, url: str) -> str:
    """The id of a request whose end the receiver at `url` is to be told, now."""
    machine = service.machine()
    request_id = machine.ask(callback_url=url)
    machine.cancel(request_id)
    return request_id


def first_attempt(service: Service, request_id: str) -> Attempt:
    """Of the request's event, once it is over."""
    found: Rows = []

    def is_over() -> bool:
        found[:] = service.rows(_FIRST, request_id=request_id)
        return bool(found)

    wait_until(is_over, service.timeout + 30)
    return Attempt(*found[0])
