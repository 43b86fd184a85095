"""The database connection: a cheaper health check, and the gate for connecting."""

import select
from typing import Any

from django.conf import settings
from django.db.backends.postgresql import base

from db.time_limits import GATE, WATCHDOG


class DatabaseWrapper(base.DatabaseWrapper):
    """Runs Django's health check only if the socket shows that the server closed the connection.

    In a web process, connects through the gate, except to the replica, which pages can do without.

    With CONN_HEALTH_CHECKS, Django sends `SELECT 1` before the first statement of every call. The
    operating system already knows whether the server has closed the connection: then the socket is
    readable. The socket of an idle, healthy connection never is.
    """

    health_check_enabled: bool  # defined by Django's BaseDatabaseWrapper, missing in its stubs
    health_check_done: bool

    def close_if_health_check_failed(self) -> None:
        if self.connection is not None and self.health_check_enabled and not self.health_check_done:
            if self.connection.closed or is_readable(self.connection.fileno()):
                super().close_if_health_check_failed()
            self.health_check_done = True

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        if settings.PROCESS_KIND != "web" or self.alias == "replica":
            return super().get_new_connection(conn_params)
        WATCHDOG.check()
        with GATE.pass_one():
            return super().get_new_connection(conn_params)


def is_readable(descriptor: int) -> bool:
    """Tells whether the socket has data to read or has reached its end."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
