"""Wakes those who wait in this process when something has happened to what they wait for.

One connection of each process listens. A notification only says when to read again.
"""

from dataclasses import dataclass
from typing import Any

from db.ids import bucket_of
from db.listening import Listener
from reviews.lifecycle.transitions import CHANGED_CHANNEL
from web.late_answers import Room, get_room, get_streams

_listeners: dict[int, Listener] = {}  # by room: one in each process, several in tests


def start_listening(environ: dict[str, Any]) -> None:
    """Has the seats of this process woken from now on; does nothing if they are already."""
    rooms = Rooms(get_room(environ), get_streams(environ))
    listener = _listeners.get(id(rooms.waiting))
    if listener is None:
        made = Listener(CHANGED_CHANNEL, rooms.wake, rooms.wake_all)
        listener = _listeners.setdefault(id(rooms.waiting), made)
    listener.start()


def topic_of_account(account_id: str) -> str:
    """The topic of the events of an account. It shares it with one account in 4,096."""
    return f"events {bucket_of(account_id)}"


@dataclass(frozen=True, slots=True)
class Rooms:
    """The calls that wait for a request, and the streams that wait for an account's events."""

    waiting: Room | None
    streams: Room | None

    def wake(self, changed_id: str) -> None:
        """Wakes who waits for a request that has ended, or for an event of its account."""
        if self.waiting:
            self.waiting.wake(changed_id)
        if self.streams:
            self.streams.wake(topic_of_account(changed_id))

    def wake_all(self) -> None:
        for room in (self.waiting, self.streams):
            if room:
                room.wake_all()
