"""How a view has its request answered later, while no thread waits for it.

The web server puts a `Room` into the environment of each request. A view takes a seat for a topic
and then looks whether it can answer. If it cannot, it keeps the seat: it puts it into the
environment under KEPT, and its response is dropped. The server calls the application again, with
the seat under RESUMED, when the topic is woken, when the seconds of the seat are over, or when the
server stops. A view that answers leaves its seat.

A stream does the same in a room of its own. Each of its responses is sent as a part of one body:
the view puts its seat into the environment under PART as well, and the headers of all but the first
are dropped. The stream ends with the first response that keeps no seat. No part is made before the
client has taken most of the one before.

Other servers have no room: there the view answers at once.
"""

from typing import Any, Protocol

ROOM = "front.room"
STREAMS = "front.streams"
PART = "front.part"
KEPT = "front.kept"
RESUMED = "front.resumed"


class Seat(Protocol):
    """The place of a request that waits."""

    @property
    def topic(self) -> str:
        """What it waits for."""

    @property
    def remaining(self) -> float:
        """The seconds that are left."""

    state: Any
    """What the view needs when it is called again."""

    def shorten(self, seconds: float) -> None:
        """Shortens what is left of the wait to this many seconds."""

    def renew(self, seconds: float) -> None:
        """Sets the time that is left, in seconds from now."""

    def leave(self) -> None:
        """Gives the place back; a second time does nothing."""


class Room(Protocol):
    """The places of a worker process. Any thread may call its methods."""

    @property
    def is_full(self) -> bool:
        """Whether nobody gets a seat, whatever their group."""

    def take(self, topic: str, group: str, seconds: float) -> Seat | None:
        """Takes a seat; None where all are taken, or too many by the group."""

    def wake(self, topic: str) -> None:
        """Has every request that waits for the topic answered again."""

    def wake_all(self) -> None:
        """Has every request that waits answered again."""


def get_room(environ: dict[str, Any]) -> Room | None:
    """Returns the room of the server; None where it has none."""
    room: Room | None = environ.get(ROOM)
    return room


def get_streams(environ: dict[str, Any]) -> Room | None:
    """Returns the room for streams; None where the server has none."""
    room: Room | None = environ.get(STREAMS)
    return room


def get_resumed(environ: dict[str, Any]) -> Seat | None:
    """Returns the seat of a request that has waited."""
    seat: Seat | None = environ.get(RESUMED)
    return seat


def keep(environ: dict[str, Any], seat: Seat) -> None:
    """Has this request answered later instead of now."""
    environ[KEPT] = seat


def keep_open(environ: dict[str, Any], seat: Seat) -> None:
    """Has this response sent as a part, and makes the next one later."""
    environ[KEPT] = environ[PART] = seat
