"""The sweeps: a few statements for each batch, however many rows it settles."""

from datetime import timedelta
from typing import Any

from django.db.models.functions import Now
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from db import worker_status
from db.ids import owned_id
from reviews import services, tasks
from reviews.lifecycle.transitions import BATCH
from reviews.models import Request
from tests.reviews.conftest import Make, let_lease_run_out
from webhooks.models import Delivery

HEARTBEAT = 1
NOTHING = 2  # statements of a sweep that finds nothing: one joins the settlers, one looks


def copies(request: Request, count: int) -> None:
    """As many rows like this one."""
    row = Request.objects.get(pk=request.pk)
    rows = []
    for _ in range(count):
        row.pk = owned_id(row.creator_id)
        rows.append(Request(**{f.attname: getattr(row, f.attname) for f in stored(row)}))
    Request.objects.bulk_create(rows)


def stored(row: Request) -> list[Any]:
    """The columns that are written."""
    return [field for field in row._meta.concrete_fields if not field.generated]


def test_due_requests_are_settled_by_six_statements_a_batch(
    make: Make, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    copies(make(callback_url="http://127.0.0.1:9/"), 2 * BATCH + 9)
    Request.objects.update(timeout_at=Now() - timedelta(seconds=1))
    with django_assert_num_queries(3 * 6 + HEARTBEAT):
        assert tasks.settle_overdue() == 2 * BATCH + 10
    assert set(Request.objects.values_list("status", flat=True)) == {"timeout"}
    assert Delivery.objects.filter(event="request.timeout").count() == 2 * BATCH + 10
    with django_assert_num_queries(NOTHING + HEARTBEAT):
        assert tasks.settle_overdue() == 0


def test_lapsed_claims_are_given_back_in_one_statement_more(
    make: Make, member: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    requests = [make() for _ in range(5)]
    for request in requests:
        services.claim_request(request=request, reviewer_id=member.pk)
        let_lease_run_out(request)
    with django_assert_num_queries(NOTHING + 1 + HEARTBEAT):
        assert tasks.release_lapsed() == 5
    assert set(Request.objects.values_list("status", flat=True)) == {"pending"}


def test_a_deleted_loop_cancels_every_request_in_batches(make: Make, owner: User) -> None:
    first = make(callback_url="http://127.0.0.1:9/")
    copies(first, 2 * BATCH + 5)
    services.delete_loop(loop_id=first.loop_id, account_id=owner.pk)
    assert set(Request.objects.values_list("status", flat=True)) == {"cancelled"}
    assert Delivery.objects.filter(event="request.cancelled").count() == 2 * BATCH + 6


def test_a_removed_member_releases_every_claim_in_batches(
    make: Make, owner: User, member: User
) -> None:
    claimed, other = make(), make()
    services.claim_request(request=claimed, reviewer_id=member.pk)
    services.claim_request(request=other, reviewer_id=owner.pk)
    copies(claimed, BATCH + 5)
    services.remove_member(loop_id=claimed.loop_id, account_id=owner.pk, member_id=member.pk)
    held = Request.objects.filter(status="claimed")
    assert [request.pk for request in held] == [other.pk]


def test_a_sweep_leaves_its_heartbeat(db: None) -> None:
    tasks.settle_overdue()
    tasks.release_lapsed()
    assert set(worker_status.read_lags()) == {"settle_overdue", "release_lapsed"}
    assert max(worker_status.read_lags().values()) < 60


def test_a_sweep_that_is_stuck_occupies_few_threads(
    db: None, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    places = tasks._places["settle_overdue"]
    assert all(places.acquire(blocking=False) for _ in range(tasks.RUNS))
    try:
        with django_assert_num_queries(0):
            assert tasks.settle_overdue() == 0
        with django_assert_num_queries(NOTHING + HEARTBEAT):
            assert tasks.release_lapsed() == 0
    finally:
        for _ in range(tasks.RUNS):
            places.release()
    with django_assert_num_queries(NOTHING + HEARTBEAT):
        assert tasks.settle_overdue() == 0
