"""The shape that webhooks, pushes and emails share: how due items are sent in runs.

Each of them has the same modules. `outbox` is SQL: `claim_due` leases items under a claim
id, `record` and `give_back` write only while that claim holds. `attempt` sends one item and
returns its outcome. `dispatch` has the engine, which does both until nothing is due.
"""

import threading
import time
from abc import ABC, abstractmethod

from db import deliveries


class Engine(ABC):
    """Sends what is due, in one run at a time for each process."""

    def __init__(self) -> None:
        self._running = threading.Lock()
        self._stopping = threading.Event()

    def run_due(self) -> int:
        """Sends until nothing is due, and returns how many items (emails: batches) it claimed.

        0 while another run is under way in this process, and while deliveries are off.
        """
        if not deliveries.are_on() or not self._running.acquire(blocking=False):
            return 0
        try:
            return self._send_due()
        finally:
            self._running.release()

    def stop(self) -> None:
        """Ends a run after the attempts under way; what was not begun is given back."""
        self._stopping.set()

    def may_claim(self) -> bool:
        """Whether to claim more: neither this process nor all deliveries have been stopped."""
        return not self._stopping.is_set() and deliveries.are_on()

    def may_begin(self, begin_by: float) -> bool:
        """Whether an attempt may begin: it would end within its lease, and nobody stops us.

        `begin_by` is in seconds of `time.monotonic`.
        """
        return not self._stopping.is_set() and time.monotonic() <= begin_by

    @abstractmethod
    def _send_due(self) -> int:
        """Claims, attempts and records until nothing is due; returns how many were claimed."""
