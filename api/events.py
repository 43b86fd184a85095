"""`GET /api/events`: what happens to the account's requests, as server-sent events.

A stream has a place in a waiting list (`web.waiting`) and no thread. It is called again when
something has happened to the account, and every BEAT seconds. Each time it checks its key and reads
what is new in the log (`webhooks.event_log`); `api.wake_ups` only says when.
"""

from dataclasses import dataclass
from typing import ClassVar

from django.http import HttpRequest, HttpResponse

from api.authentication import Call
from api.envelope import build_envelope, build_stream, dumps
from api.errors import ApiError, ServiceUnavailable, TooManyStreams, ValidationFailed
from api.failures import ReadEventsFailed
from api.views import ApiView
from api.wake_ups import start_listening, topic_of_account
from db.ids import normalize_id
from reviews.lifecycle.settling import scope_to_account, settle_unlocked
from web.waiting import Waiter, get_deferred, get_resumed
from webhooks import event_log, places
from webhooks.event_log import Entry, Page, Position

BEAT = 12.0  # seconds between two looks, and the delay of an event whose wake-up was lost
OUTAGE = 5.0  # seconds until a stream looks whether the database is back
RETRY = b"retry: 2000\n"  # milliseconds after which a client comes back
COMMENT = b": nothing new\n"  # that nothing has happened until now
AWAY = b": the database cannot be reached\n\n"
RESET, CLOSED = "stream.reset", "stream.closed"


class Events(ApiView):
    """/api/events"""

    permissions: ClassVar = {"GET": "requests:read"}
    failures: ClassVar = {"GET": ReadEventsFailed}

    def get(self, call: Call) -> HttpResponse:
        waiter = get_resumed(call.request.META)
        if waiter is not None:
            return send(call, waiter, waiter.state, b"")
        place = read_place(call)
        waiter = take_place(call)
        return send(call, waiter, *find_place(call.account.id, place))

    def handle_error(self, exc: Exception) -> HttpResponse:
        """Says in a stream that has begun why it ends; it goes on after an outage."""
        waiter = get_resumed(self.request.META)
        if waiter is None:
            return super().handle_error(exc)
        error = exc if isinstance(exc, ApiError) else self.convert_unexpected(exc)
        if isinstance(error, ServiceUnavailable):
            return keep_for(OUTAGE, self.request, waiter, AWAY)
        envelope = build_envelope(error.sentence, error.detail, error=True)
        return build_stream(format_event(CLOSED, dumps({**envelope, "status": error.status})))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a stream goes on: `text` is the id as it was sent, `marker` what was sealed in it."""

    text: str
    marker: str | None


def read_place(call: Call) -> Place | None:
    """Reads where the stream goes on, None if it begins now. Raises ValidationFailed.

    The header wins: clients that come back repeat the query of their first call.
    """
    header, after = call.request.META.get("HTTP_LAST_EVENT_ID", ""), call.query_params.get("after")
    name, text = ("Last-Event-ID", header) if header else ("after", after)
    if not text:
        return None
    marker = places.open_sealed(call.account.id, text)
    if marker is None and not normalize_id(text):
        raise ValidationFailed(f"{name} must be the id of an event")
    return Place(text, marker)


def find_place(account_id: str, place: Place | None) -> tuple[Position, bytes]:
    """Returns the position of a stream, and with what it begins."""
    if place is None:
        position = event_log.begin()
        return position, RETRY + format_marker(account_id, position)
    found = find_position(account_id, place)
    if found:
        return found, RETRY + b"\n"
    position = event_log.begin()
    detail = f"The log does not go back to {place.text}. Events may be missing: read the requests."
    reset = format_event(RESET, dumps({"event": RESET, "detail": detail}))
    return position, RETRY + format_marker(account_id, position) + reset


def find_position(account_id: str, place: Place) -> Position | None:
    """Returns the position behind an event or a marker; None if the log does not know it."""
    if place.marker is not None:
        microseconds, _, oldest = place.marker.partition(".")
        return event_log.resume_at(int(microseconds), int(oldest))
    return event_log.resume(account_id, place.text.lower())


def take_place(call: Call) -> Waiter | None:
    """Takes a place for a stream; None where the server has none for this client, and for HEAD.

    Raises TooManyStreams, ServiceUnavailable.
    """
    deferred = get_deferred(call.request.META)
    if deferred is None or not deferred.has_streams or call.request.method == "HEAD":
        return None
    topic = topic_of_account(call.account.id)
    waiter = deferred.take(deferred.streams, topic, call.caller.key_id, BEAT)
    if waiter is None:
        raise ServiceUnavailable if deferred.streams.is_full else TooManyStreams
    start_listening(deferred)
    return waiter


def send(call: Call, waiter: Waiter | None, position: Position, begin: bytes) -> HttpResponse:
    """Sends what is new, and keeps the waiter; without one, that is the whole response."""
    page = event_log.read(call.account.id, position)
    beat = b"" if begin else COMMENT + format_marker(call.account.id, page.position)
    text = begin + (format_page(page) or beat)
    if waiter is None:
        return build_stream(text)
    waiter.state = page.position
    if not page.entries:
        settle_unlocked(scope_to_account(call.account.id))  # its events come with a wake-up
    return keep_for(BEAT, call.request, waiter, text, is_due=not page.is_last)


def keep_for(
    seconds: float, request: HttpRequest, waiter: Waiter, text: bytes, *, is_due: bool = False
) -> HttpResponse:
    """Sends a part, and keeps the waiter until the next one; not if the server stops."""
    waiter.renew(seconds)
    deferred = get_deferred(request.META)
    if deferred and waiter.remaining > 0:
        deferred.keep_open()
    if is_due:
        waiter.renew(0)
    return build_stream(text)


def format_page(page: Page) -> bytes:
    """Writes the events of a page."""
    return b"".join(map(format_entry, page.entries))


def format_entry(entry: Entry) -> bytes:
    """Writes an event with its id, which is the `webhook-id` as well."""
    return f"id: {entry.id}\n".encode() + format_event(entry.name, entry.body)


def format_event(name: str, body: bytes) -> bytes:
    """Writes an event; a body of several lines arrives as it is."""
    return b"event: %b\ndata: %b\n\n" % (name.encode(), body.replace(b"\n", b"\ndata: "))


def format_marker(account_id: str, position: Position) -> bytes:
    """Writes an id without an event: a client that comes back goes on from there."""
    return f"id: {places.seal(account_id, position.marker)}\n\n".encode()
