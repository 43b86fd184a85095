"""A call that uses the database for too long is cut, and nobody queues to connect meanwhile."""

import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import psycopg
import pytest
from django.db import OperationalError, connection, transaction

from db.outages import is_outage
from db.time_limits import GATE, SLOW, WATCHDOG, Gate, allow_longer


@pytest.fixture(autouse=True)
def _opens_again() -> Iterator[None]:
    yield
    WATCHDOG.end()
    GATE.is_shut = False


@pytest.mark.django_db(transaction=True)
def test_a_call_whose_time_is_over_loses_its_connection() -> None:
    WATCHDOG.begin(0.5)
    with pytest.raises(OperationalError) as caught, connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(2)")
    assert is_outage(caught.value)
    assert GATE.is_shut
    connection.close()
    with pytest.raises(psycopg.OperationalError, match="time of this call is over"):
        WATCHDOG.check()
    WATCHDOG.end()
    WATCHDOG.check()
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


@pytest.mark.django_db(transaction=True)
def test_a_call_that_has_ended_keeps_its_connection() -> None:
    WATCHDOG.begin(0.1)
    WATCHDOG.end()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(0.7)")


@pytest.mark.django_db(transaction=True)
def test_long_work_gets_more_time_in_its_transaction_alone() -> None:
    WATCHDOG.begin(0.5)
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = '200ms'")
        with transaction.atomic():
            allow_longer(20)
            cursor.execute("SELECT pg_sleep(1)")
        with pytest.raises(OperationalError, match="statement timeout") as caught:
            cursor.execute("SELECT pg_sleep(1)")
    assert is_outage(caught.value)
    connection.close()


def fail_slowly(gate: Gate) -> None:
    with suppress(psycopg.OperationalError), gate.pass_one():
        time.sleep(SLOW + 0.1)
        raise psycopg.OperationalError("no answer")


def test_while_nobody_answers_one_thread_tries_to_connect() -> None:
    gate = Gate()
    fail_slowly(gate)
    assert gate.is_shut
    inside, leave = threading.Event(), threading.Event()

    def try_again() -> None:
        with gate.pass_one():
            inside.set()
            leave.wait(10)

    trying = threading.Thread(target=try_again)
    trying.start()
    assert inside.wait(10)
    with pytest.raises(psycopg.OperationalError, match="another call is trying"), gate.pass_one():
        pass
    leave.set()
    trying.join()
    assert not gate.is_shut
    with gate.pass_one():
        pass


def test_a_refused_connection_shuts_nothing() -> None:
    gate = Gate()
    with pytest.raises(psycopg.OperationalError), gate.pass_one():
        raise psycopg.OperationalError("refused")
    assert not gate.is_shut
