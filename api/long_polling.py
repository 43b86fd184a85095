"""`GET /api/requests/{id}?wait=N`: the response comes as soon as the request has ended.

While it waits the call has a place in a waiting list (`web.waiting`) and no thread.
`api.wake_ups` says when to read the request again.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest, QueryDict

from api.errors import ValidationFailed
from api.wake_ups import start_listening
from reviews.lifecycle.states import OPEN
from web.waiting import Waiter, get_deferred

MAX_SECONDS = 50
MARGIN = 0.1  # seconds behind a deadline, for a clock that is ahead of the database's
HEADER = "Wait-Applied"
NOT_APPLIED = '0; reason="too many calls are waiting"'


def read_seconds(params: QueryDict) -> int | None:
    """Reads `wait`; None if it is not given. Raises ValidationFailed."""
    text = params.get("wait")
    if text is None:
        return None
    if text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= MAX_SECONDS and len(text) <= 9:
        return int(text)
    raise ValidationFailed(f"wait must be an integer between 1 and {MAX_SECONDS}")


def take_place(
    request: HttpRequest, request_id: str, *, key_id: str, seconds: int
) -> Waiter | None:
    """Returns the waiter of a call that has waited, or takes a place for a new one.

    None if there is no place: then the call is answered at once.
    """
    deferred = get_deferred(request.META)
    if deferred is None:
        return None
    if deferred.is_resumed:
        return deferred.waiter
    waiter = deferred.take(deferred.waiting, request_id, key_id, seconds)
    if waiter:
        start_listening(deferred)
    return waiter


def read_or_wait(
    request: HttpRequest, waiter: Waiter, read: Callable[[], dict[str, Any]]
) -> dict[str, Any]:
    """Returns the single read; defers the response if the request is open and time is left."""
    shown = read()
    seconds = seconds_to_wait(shown)
    deferred = get_deferred(request.META)
    if deferred and seconds > 0 and waiter.remaining > 0:
        waiter.shorten(seconds)
        deferred.keep()
    return shown


def seconds_to_wait(shown: dict[str, Any]) -> float:
    """Returns the seconds until the request of a single read ends by itself; 0 if it has ended."""
    if shown["status"] not in OPEN:
        return 0.0
    ends_at = datetime.fromisoformat(shown["timeout_at"])
    return max(0.0, (ends_at - datetime.now(UTC)).total_seconds()) + MARGIN
