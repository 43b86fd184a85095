"""A kept connection whose server process ended is replaced before a call notices."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from django.db import close_old_connections, connection
from django.test.utils import CaptureQueriesContext

from db.postgresql.base import is_readable
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


def tell(sql: str) -> None:
    """A statement over another connection."""
    with closing(connection.copy()) as other, other.cursor() as cursor:
        cursor.execute(sql)


def test_a_living_one_is_kept_and_not_asked(kept: int) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert not is_readable(connection.connection.fileno())
        assert ask() == kept
    assert [query["sql"] for query in queries] == ["SELECT pg_backend_pid()"]


def test_one_with_something_to_say_is_asked_and_kept(kept: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("LISTEN weather")
    close_old_connections()
    tell("NOTIFY weather")
    wait_until(lambda: is_readable(connection.connection.fileno()))
    assert ask() == kept
    assert not is_readable(connection.connection.fileno())


def test_a_dead_one_is_replaced(kept: int) -> None:
    tell(f"SELECT pg_terminate_backend({kept}, 5000)")
    wait_until(lambda: is_readable(connection.connection.fileno()))
    assert ask() != kept
