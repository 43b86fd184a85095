"""Totals under concurrent changes: no write waits, and no reader sees a wrong number."""

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

import pytest
from django.db import connection, connections, transaction
from django.db.models.functions import Now

from accounts.models import User
from loops.models import Loop
from reviews import counters, services, tasks
from reviews.models import Request
from reviews.queries import listing
from tests.reviews.conftest import FIELDS, Make, acting

pytestmark = pytest.mark.django_db(transaction=True)

Step = Callable[[], object]


def test_a_create_waits_for_no_other(make: Make, owner: User, loop: Loop) -> None:
    """While one transaction has created and aggregated without a commit, another does the same."""
    make()
    outcome: list[object] = []

    def create_and_fold() -> None:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SET lock_timeout = '2s'")
            services.create_request(loop_id=loop.pk, account=acting(owner), fields=dict(FIELDS))
            outcome.append(counters.find_differences())
        except Exception as error:
            outcome.append(error)
        finally:
            connections.close_all()

    with transaction.atomic():
        make()
        other = threading.Thread(target=create_and_fold)
        other.start()
        other.join()
    assert outcome == [[]]
    assert counters.find_differences() == []


def side_by_side(steps: list[tuple[Step, int]]) -> list[Exception]:
    """Repeats each step in a thread of its own; what went wrong."""
    failures: list[Exception] = []

    def work(step: Step, times: int) -> None:
        try:
            for _ in range(times):
                step()
        except Exception as error:
            failures.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work, args=step) for step in steps]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def test_everything_at_once(make: Make, member: User, owner: User, loop: Loop) -> None:
    """Creates, answers, sweeps and aggregates side by side."""

    def create() -> None:
        services.create_request(loop_id=loop.pk, account=acting(owner), fields=dict(FIELDS))

    def answer() -> None:
        row = Request.objects.filter(status="pending").order_by("?").first()
        if row is not None:
            with suppress(services.TransitionLost):
                services.answer_request(request=row, reviewer_id=member.pk, answer="yes")

    def pass_time() -> None:
        some = Request.objects.filter(status="pending").order_by("?").values("pk")[:3]
        rows = Request.objects.filter(pk__in=[row["pk"] for row in some], status="pending")
        rows.update(timeout_at=Now() - timedelta(seconds=1))
        tasks.settle_overdue()

    def read() -> None:
        assert counters.find_differences() == []

    steps: list[tuple[Step, int]] = [(create, 60), (create, 60), (answer, 60), (pass_time, 20)]
    steps += [(read, 60), (counters.aggregate, 60), (counters.aggregate, 60)]
    assert side_by_side(steps) == []
    window = listing.ListParams(None, None, "created_at_desc", 1, 0)
    assert listing.fetch(listing.scope_to_loop(loop.pk), window).total == 120
