"""Simulates a database that is unreachable."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection


@contextmanager
def out_of_reach() -> Iterator[None]:
    """The connection's settings point to a socket where nobody listens."""
    known: dict[str, Any] = connection.settings_dict
    host = known["HOST"]
    connection.close()
    known["HOST"] = "/nonexistent"
    try:
        yield
    finally:
        connection.close()
        known["HOST"] = host
