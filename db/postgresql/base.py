"""The connection to PostgreSQL."""

import select

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    """With CONN_HEALTH_CHECKS, Django asks `SELECT 1` before the first statement of every call.

    A server that went away has hung up, and the operating system knows: only a connection with
    something to read, which an idle one never has, is worth the question.
    """

    health_check_enabled: bool  # of Django's BaseDatabaseWrapper, unknown to its stubs
    health_check_done: bool

    def close_if_health_check_failed(self) -> None:
        if self.connection is not None and self.health_check_enabled and not self.health_check_done:
            if self.connection.closed or is_readable(self.connection.fileno()):
                super().close_if_health_check_failed()
            self.health_check_done = True


def is_readable(descriptor: int) -> bool:
    """Whether bytes or the end of the stream are waiting."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
