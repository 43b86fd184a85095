"""A kept connection whose server process ended is replaced before a call notices."""

from collections.abc import Iterator

import pytest
from django.db import close_old_connections, connection

from config.postgresql.base import is_readable
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def kept() -> Iterator[int]:
    """The process id behind a connection that is looked at again, as between two calls."""
    process = ask()
    close_old_connections()
    yield process
    connection.close()


def ask() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def test_a_living_one_is_kept(kept: int) -> None:
    assert not is_readable(connection.connection.fileno())
    assert ask() == kept


def test_a_dead_one_is_replaced(kept: int) -> None:
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [kept])
    finally:
        other.close()
    wait_until(lambda: is_readable(connection.connection.fileno()))
    assert ask() != kept
