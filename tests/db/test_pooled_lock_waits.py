"""Behind a pooler, a call that may wait for locks only briefly leaves no setting behind."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from django.db import OperationalError, connection, transaction
from pytest_django import Settings

from db import lock_waits

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _brief(settings: Settings) -> Iterator[None]:
    settings.DATABASE_POOLER = "transaction"
    lock_waits.note_timeout()
    places = [lock_waits.begin_call() for _ in range(lock_waits.MAX_FULL_WAITS)]
    assert all(places)
    assert not lock_waits.begin_call()
    yield
    for _ in places:
        lock_waits.end_call(has_place=True)
    lock_waits.forget()
    lock_waits.begin_call()
    assert read_limit() != lock_waits.BRIEF


def read_limit() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        return str(cursor.fetchone()[0])


def test_single_statements_wait_briefly() -> None:
    with closing(connection.copy()) as other, other.cursor() as holder:
        holder.execute("SELECT pg_advisory_lock(1)")
        with pytest.raises(OperationalError, match="lock timeout"), connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(1)")
    assert read_limit() == lock_waits.BRIEF


def test_so_do_transactions_which_go_on_as_they_would() -> None:
    with transaction.atomic():
        assert read_limit() == lock_waits.BRIEF
    assert not connection.in_atomic_block
    assert connection.get_autocommit()


def test_the_session_keeps_its_setting() -> None:
    assert read_limit() == lock_waits.BRIEF
    raw = connection.connection
    assert raw.execute("SHOW lock_timeout").fetchone() != (lock_waits.BRIEF,)
