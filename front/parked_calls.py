"""Lets the application answer a request later, while no thread waits for it.

`web.late_answers` describes it from the side of the application. The seats are a hint for when to
call the application again; it reads the truth each time.
"""

from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any

from front.reading import Message
from web.late_answers import RESUMED

if TYPE_CHECKING:
    from front.connection import Connection

# libuv counts whole milliseconds, so a timer of the event loop may fire 1.5 ms early.
TIMER_ERROR = 0.002  # seconds


class Seat:
    """The place of one request that waits for a topic.

    `group` is whom it counts for. `until` is a time of the monotonic clock.
    """

    __slots__ = ("_room", "again", "group", "is_woken", "state", "topic", "until")

    def __init__(self, room: "Room", topic: str, group: str, until: float) -> None:
        self._room = room
        self.topic = topic
        self.group = group
        self.until = until
        self.is_woken = False
        self.state: Any = None
        self.again: Callable[[], None] | None = None  # while it is kept: calls the application

    @property
    def remaining(self) -> float:
        """The seconds that are left; none where the server stops."""
        return 0.0 if self._room.is_closed else max(0.0, self.until - monotonic())

    def shorten(self, seconds: float) -> None:
        """Has at most so many seconds left."""
        self.until = min(self.until, monotonic() + seconds)

    def renew(self, seconds: float) -> None:
        """Has so many seconds from now."""
        self.until = monotonic() + seconds

    def leave(self) -> None:
        """Gives the place back; a second time does nothing."""
        self._room.remove(self)


class Room:
    """The seats of a worker process. Threads and the event loop use it."""

    def __init__(self, size: int, per_group: int) -> None:
        self.size = size
        self.per_group = per_group
        self.is_closed = False
        self._lock = Lock()
        self._topics: dict[str, set[Seat]] = {}
        self._groups: dict[str, int] = {}
        self._taken = 0

    @property
    def is_full(self) -> bool:
        """Whether nobody gets a seat, whatever their group."""
        return self.is_closed or self._taken >= self.size

    def take(self, topic: str, group: str, seconds: float) -> Seat | None:
        """Takes a seat; None where all are taken, or too many by the group."""
        with self._lock:
            in_group = self._groups.get(group, 0)
            if self.is_full or in_group >= self.per_group:
                return None
            seat = Seat(self, topic, group, monotonic() + seconds)
            self._topics.setdefault(topic, set()).add(seat)
            self._groups[group] = in_group + 1
            self._taken += 1
        return seat

    def remove(self, seat: Seat) -> None:
        with self._lock:
            seats = self._topics.get(seat.topic, set())
            if seat not in seats:
                return
            seats.remove(seat)
            if not seats:
                del self._topics[seat.topic]
            self._taken -= 1
            left = self._groups[seat.group] - 1
            if left:
                self._groups[seat.group] = left
            else:
                del self._groups[seat.group]

    def count(self) -> int:
        """Returns how many seats are taken."""
        return self._taken

    def wake(self, topic: str) -> None:
        """Has every request that waits for the topic answered again."""
        with self._lock:
            seats = list(self._topics.get(topic, ()))
        self._call(seats)

    def wake_all(self) -> None:
        """Has every request that waits answered again."""
        with self._lock:
            seats = [seat for topic in self._topics.values() for seat in topic]
        self._call(seats)

    def close(self) -> None:
        """Has every request answered at once, and lets none wait any more."""
        self.is_closed = True
        self.wake_all()

    def _call(self, seats: list[Seat]) -> None:
        for seat in seats:
            seat.is_woken = True
            if (again := seat.again) is not None:
                again()


class Hold:
    """A request that keeps its seat: called again once it is woken or its time is over.

    If its client takes nothing of what it was sent, it is called again when it does. Made in the
    event loop, as are its calls.
    """

    __slots__ = ("_connection", "_is_late", "_message", "_seat", "_timer")

    def __init__(self, connection: "Connection", message: Message, seat: Seat) -> None:
        self._connection, self._message, self._seat = connection, message, seat
        self._is_late = False
        server = connection.server
        self._timer = server.loop.call_later(seat.remaining + TIMER_ERROR, self._go_on)
        message.hold = self
        seat.again = lambda: server.tell(self._go_on, message, b"")
        if seat.is_woken:  # while the application was looking
            seat.again()

    def _go_on(self, *_: object) -> None:
        if self._message.hold is not self:  # already called, or given up
            return
        if not self._connection.is_writable:
            self._is_late = True
            if self._connection.server.is_stopping:
                self._connection.drop()
            return
        self._end()
        self._seat.is_woken = False
        self._message.environ[RESUMED] = self._seat
        self._message.environ["wsgi.input"].seek(0)  # the application has read the body
        server = self._connection.server
        if server.is_stopping:
            self._message.keep_alive = False
        server.threads.submit((self._connection, self._message))

    def catch_up(self) -> None:
        """Continues: the client takes data again."""
        if self._is_late:
            self._go_on()

    def give_up(self) -> None:
        """Forgets the request, because its client is gone."""
        self._end()
        self._seat.leave()

    def _end(self) -> None:
        self._message.hold = self._seat.again = None
        self._timer.cancel()
