"""After a lock time-out, only a few calls wait for locks for the full time."""

from collections.abc import Iterator

import pytest
from django.db import OperationalError, connection

from db import lock_waits
from db.outages import note_outage

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    lock_waits.forget()
    yield
    lock_waits.forget()
    connection.close()


def limit() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        return str(cursor.fetchone()[0])


def time_out() -> OperationalError:
    """A wait for a lock that another connection holds."""
    other = connection.copy()
    try:
        with other.cursor() as holder:
            holder.execute("SELECT pg_advisory_lock(1)")
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '50ms'")
            with pytest.raises(OperationalError, match="lock timeout") as caught:
                cursor.execute("SELECT pg_advisory_lock(1)")
            cursor.execute("RESET lock_timeout")
    finally:
        other.close()
    return caught.value


def test_most_calls_wait_briefly_until_it_is_forgotten() -> None:
    usual = limit()
    assert not lock_waits.begin_call()
    assert limit() == usual

    note_outage(time_out())
    places = [lock_waits.begin_call() for _ in range(lock_waits.MAX_FULL_WAITS)]
    assert all(places)
    assert limit() == usual
    assert not lock_waits.begin_call()
    assert limit() == lock_waits.BRIEF

    lock_waits.end_call(has_place=True)
    assert lock_waits.begin_call()
    assert limit() == usual
    for _ in places:
        lock_waits.end_call(has_place=True)


def test_a_brief_connection_is_patient_again_afterwards() -> None:
    usual = limit()
    lock_waits.set_brief(is_brief=True)
    assert limit() == lock_waits.BRIEF
    lock_waits.begin_call()
    assert limit() == usual


def test_a_new_connection_is_not_taken_for_a_brief_one() -> None:
    lock_waits.set_brief(is_brief=True)
    connection.close()
    usual = limit()
    lock_waits.set_brief(is_brief=True)
    assert limit() == lock_waits.BRIEF != usual
