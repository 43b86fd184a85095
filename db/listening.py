"""Receives notifications of PostgreSQL on one connection and one thread for each process.

A notification says that something has changed. Notifications are lost while the connection is
broken, so `missed` is called after each reconnection. Pauses between attempts grow while the
database is away.
"""

import os
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg
import structlog
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg import sql

from db.connections import wrap

RETRY, MAX_RETRY = 1.0, 30.0  # seconds; the pause doubles until a connection lasts
OF_DJANGO = {"context", "cursor_factory", "prepare_threshold"}
log = structlog.get_logger(__name__)


class Listener:
    """Calls `heard` with the payload of each notification of a channel, from a thread."""

    def __init__(
        self, channel: str, heard: Callable[[str], None], missed: Callable[[], None]
    ) -> None:
        self.channel = channel
        self._heard = heard
        self._missed = missed
        self._lock = threading.Lock()
        self._process = 0
        self._failures = 0

    def start(self) -> None:
        """Starts the thread of this process; does nothing if it runs."""
        if self._process == os.getpid():
            return
        with self._lock:
            if self._process != os.getpid():  # the web server may have forked
                self._process = os.getpid()
                name = f"listen {self.channel}"
                threading.Thread(target=self._work, name=name, daemon=True).start()

    def _work(self) -> None:
        while True:
            try:
                self._listen()
            except psycopg.Error as error:
                log.warning("db.listening_ended", channel=self.channel, error=str(error))
            time.sleep(self._choose_pause())

    def _listen(self) -> None:
        with psycopg.connect(**self._read_parameters(), autocommit=True) as listening:
            listening.execute(sql.SQL("LISTEN {}").format(sql.Identifier(self.channel)))
            self._failures = 0
            self._missed()
            for notification in listening.notifies():
                self._heard(notification.payload)

    def _choose_pause(self) -> float:
        """Returns random seconds until the next attempt: all processes reconnect together."""
        pause: float = min(RETRY * 2**self._failures, MAX_RETRY)
        self._failures = min(self._failures + 1, 10)
        return pause * random.uniform(0.5, 1.0)  # noqa: S311 (no secret)

    def _read_parameters(self) -> dict[str, Any]:
        """Returns the parameters of a direct connection to PostgreSQL, without Django's options."""
        given = self._get_wrapper().get_connection_params()
        return {name: value for name, value in given.items() if name not in OF_DJANGO}

    def _get_wrapper(self) -> BaseDatabaseWrapper:
        if not settings.DATABASE_POOLER:
            return connections[DEFAULT_DB_ALIAS]
        return wrap(settings.DIRECT_DATABASE)
