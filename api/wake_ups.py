"""Wakes those who wait in this process when something has happened to what they wait for.

One connection of each process listens. A notification only says when to read again.
"""

from dataclasses import dataclass

from db.ids import bucket_of
from db.listening import Listener
from reviews.lifecycle.transitions import CHANGED_CHANNEL
from web.waiting import Deferred, WaitingList

_listeners: dict[int, Listener] = {}  # by waiting list: one in each process, several in tests


def start_listening(deferred: Deferred) -> None:
    """Begins to wake the waiters of this process; does nothing if that has begun."""
    lists = WaitingLists(deferred.waiting, deferred.streams)
    listener = _listeners.get(id(lists.waiting))
    if listener is None:
        made = Listener(CHANGED_CHANNEL, lists.wake, lists.wake_all)
        listener = _listeners.setdefault(id(lists.waiting), made)
    listener.start()


def topic_of_account(account_id: str) -> str:
    """The topic of the events of an account. It shares it with one account in 4,096."""
    return f"events {bucket_of(account_id)}"


@dataclass(frozen=True, slots=True)
class WaitingLists:
    """The calls that wait for a request, and the streams that wait for an account's events."""

    waiting: WaitingList
    streams: WaitingList

    def wake(self, changed_id: str) -> None:
        """Wakes who waits for a request that has ended, or for an event of its account."""
        self.waiting.wake(changed_id)
        self.streams.wake(topic_of_account(changed_id))

    def wake_all(self) -> None:
        self.waiting.wake_all()
        self.streams.wake_all()
