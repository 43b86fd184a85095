"""The state machine: its table, and what the database enforces."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django.db.models.functions import Now
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import User
from reviews import services, tasks
from reviews.lifecycle import settling, states
from reviews.lifecycle.conditions import IS_DUE, OPEN, held_by, in_time, lapsed, overdue
from reviews.models import Request
from tests.reviews.conftest import Make, let_lease_run_out, make_overdue
from webhooks.models import Delivery

CALLBACK = {"callback_url": "http://127.0.0.1:9/hook"}


def test_every_transition_starts_open_and_none_leaves_a_final_status() -> None:
    for transition in states.TRANSITIONS:
        assert transition.sources <= states.OPEN
        assert transition.target in states.STATUSES
    assert set(states.STATUSES) == states.OPEN | states.FINAL


@dataclass
class Row:
    """The columns that decide which transitions are allowed."""

    status: str
    timeout_at: datetime
    claimed_by_id: str | None
    claim_expires_at: datetime | None


NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
moments = st.sampled_from([NOON + timedelta(microseconds=n) for n in (-1, 0, 1)])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(states.STATUSES), moments, moments, st.sampled_from("ab"))
def test_sql_repeats_the_table(
    db: None, status: str, timeout_at: datetime, claim_expires_at: datetime, person: str
) -> None:
    """What indexes and guarded statements know of the rules is what the table says."""
    row = Row(status, timeout_at, "a", claim_expires_at)
    if status != states.CLAIMED:
        row.claimed_by_id = row.claim_expires_at = None
    now = "%(now)s"
    conditions = {
        states.TIME_OUT: overdue(now),
        states.LAPSE: lapsed(now),
        states.RELEASE: f"{in_time(now)} AND {held_by('%(person)s', now)}",
        states.WITHDRAW: f"{in_time(now)} AND {OPEN}",
    }
    columns = (
        "%(status)s AS status, %(timeout_at)s AS timeout_at,"
        " %(claimed_by_id)s::text AS claimed_by_id,"
        " %(claim_expires_at)s::timestamptz AS claim_expires_at"
    )
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {', '.join(f'coalesce({each}, false)' for each in conditions.values())}"
            f" FROM (SELECT {columns}) AS r",
            {**vars(row), "now": NOON, "person": person},
        )
        in_sql = cursor.fetchone()
    allowed = [each.is_allowed(row, now=NOON, person_id=person) for each in conditions]
    assert allowed == list(in_sql)


def test_an_answer_completes(make: Make, member: User) -> None:
    request = make(**CALLBACK)
    services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    after = services.read_request(request.pk)
    assert (after.status, after.response_data, after.response_by) == ("completed", "yes", member)
    assert after.response_at == after.updated_at
    assert [d.event for d in Delivery.objects.all()] == ["request.completed"]


def test_the_same_answer_again_is_a_success_and_another_one_is_not(
    make: Make, member: User, owner: User
) -> None:
    request = make(**CALLBACK)
    services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    for reviewer, answer in [(member, "no"), (owner, "yes")]:
        with pytest.raises(services.TransitionLost) as lost:
            services.answer_request(request=request, reviewer_id=reviewer.pk, answer=answer)
        assert lost.value.request.response_by == member
    assert Delivery.objects.count() == 1


@pytest.mark.parametrize("claimed", [False, True])
def test_from_its_deadline_on_a_request_is_out_of_reach(
    make: Make, member: User, owner: User, claimed: bool
) -> None:
    request = make(**CALLBACK)
    if claimed:
        services.claim_request(request=request, reviewer_id=member.pk)
    make_overdue(request)
    attempts: list[Callable[[], object]] = [
        lambda: services.answer_request(request=request, reviewer_id=member.pk, answer="yes"),
        lambda: services.claim_request(request=request, reviewer_id=member.pk),
        lambda: services.cancel_request(request_id=request.pk, account_id=owner.pk),
    ]
    for attempt in attempts:
        with pytest.raises(services.TransitionLost) as lost:
            attempt()
        assert lost.value.request.status == "timeout"
        assert lost.value.request.response_data == "no"
        assert lost.value.request.answered_by == "default"


def test_an_overdue_request_is_settled_by_reading_it(make: Make) -> None:
    request = make(**CALLBACK)
    make_overdue(request)
    assert Request.objects.get(pk=request.pk).status == "pending"
    assert services.read_request(request.pk).status == "timeout"
    stored = Request.objects.get(pk=request.pk)
    assert (stored.status, stored.response_data, stored.updated_at) == (
        "timeout",
        "no",
        stored.timeout_at,
    )
    services.read_request(request.pk)
    assert [d.event for d in Delivery.objects.all()] == ["request.timeout"]


def test_a_claim_keeps_others_out_until_its_lease_runs_out(
    make: Make, member: User, owner: User
) -> None:
    request = make(**CALLBACK)
    services.claim_request(request=request, reviewer_id=member.pk)
    with pytest.raises(services.TransitionLost):
        services.claim_request(request=request, reviewer_id=owner.pk)
    with pytest.raises(services.TransitionLost):
        services.answer_request(request=request, reviewer_id=owner.pk, answer="yes")
    with pytest.raises(services.TransitionLost):
        services.cancel_request(request_id=request.pk, account_id=owner.pk)
    let_lease_run_out(request)
    assert services.read_request(request.pk).status == "pending"
    assert services.read_request(request.pk).claimed_by is None
    services.claim_request(request=request, reviewer_id=owner.pk)
    services.answer_request(request=request, reviewer_id=owner.pk, answer="yes")
    events = Delivery.objects.order_by("created_at", "id").values_list("event", flat=True)
    assert list(events) == ["request.claimed", "request.claimed", "request.completed"]


def test_claiming_again_renews_the_lease_without_another_event(make: Make, member: User) -> None:
    request = make(**CALLBACK)
    services.claim_request(request=request, reviewer_id=member.pk)
    Request.objects.filter(pk=request.pk).update(
        claim_expires_at=Now() + timedelta(seconds=5), claimed_at=F("claimed_at")
    )
    services.claim_request(request=request, reviewer_id=member.pk)
    again = services.read_request(request.pk)
    assert again.claim_expires_at is not None
    assert (again.claim_expires_at - again.now).total_seconds() > 500
    assert Delivery.objects.count() == 1


def test_sweeps_settle_what_nobody_reads(make: Make, member: User) -> None:
    late, lapsed, waiting = make(**CALLBACK), make(), make()
    services.claim_request(request=lapsed, reviewer_id=member.pk)
    make_overdue(late)
    let_lease_run_out(lapsed)
    assert tasks.settle_overdue() == 1
    assert tasks.release_lapsed() == 1
    assert tasks.settle_overdue() == 0
    stored = dict(Request.objects.values_list("id", "status"))
    assert stored == {late.pk: "timeout", lapsed.pk: "pending", waiting.pk: "pending"}


def test_settling_leaves_nothing_due_and_touches_nothing_else(
    make: Make, member: User, owner: User
) -> None:
    rows = [make() for _ in range(8)]
    for row in rows[1:4]:
        services.claim_request(request=row, reviewer_id=member.pk)
    let_lease_run_out(rows[2])
    make_overdue(rows[3])
    make_overdue(rows[4])
    services.answer_request(request=rows[5], reviewer_id=member.pk, answer="yes")
    services.cancel_request(request_id=rows[6].pk, account_id=owner.pk)
    expected = [
        "pending", "claimed", "pending", "timeout", "timeout", "completed", "cancelled", "pending",
    ]  # fmt: skip
    settling.settle(settling.scope_to_account(owner.pk))
    stored = dict(Request.objects.values_list("id", "status"))
    assert [stored[row.pk] for row in rows] == expected
    assert not Request.objects.filter(IS_DUE).exists()


def test_only_what_is_in_the_scope_is_settled(make: Make, member: User, outsider: User) -> None:
    late, lapsed = make(), make()
    services.claim_request(request=lapsed, reviewer_id=member.pk)
    make_overdue(late)
    let_lease_run_out(lapsed)
    for scope in (settling.scope_to_account(outsider.pk), settling.scope_to_loops(["0" * 24])):
        settling.settle(scope)
    assert set(Request.objects.values_list("status", flat=True)) == {"pending", "claimed"}
    settling.settle(settling.scope_to_request(late.pk))
    assert dict(Request.objects.values_list("id", "status")) == {
        late.pk: "timeout", lapsed.pk: "claimed",
    }  # fmt: skip
    settling.settle(settling.scope_to_loops([late.loop_id]))
    assert Request.objects.get(pk=lapsed.pk).status == "pending"


@pytest.mark.parametrize(
    "changes",
    [
        {"status": "completed"},
        {"status": "timeout"},
        {"status": "claimed"},
        {"status": "asleep"},
        {"response_data": "yes"},
        {"response_at": Now()},
    ],
)
def test_the_database_refuses_what_no_transition_makes(
    make: Make, changes: dict[str, object]
) -> None:
    request = make()
    with pytest.raises(IntegrityError), transaction.atomic():
        Request.objects.filter(pk=request.pk).update(**changes)


def test_the_database_keeps_final_statuses(make: Make, owner: User) -> None:
    request = make()
    services.cancel_request(request_id=request.pk, account_id=owner.pk)
    with pytest.raises(IntegrityError, match="for good"), transaction.atomic():
        Request.objects.filter(pk=request.pk).update(status="pending")


def test_the_database_refuses_a_second_event_for_one_transition(make: Make, owner: User) -> None:
    request = make(**CALLBACK)
    services.cancel_request(request_id=request.pk, account_id=owner.pk)
    row = Delivery.objects.get()
    row.pk = "0" * 24
    with pytest.raises(IntegrityError), transaction.atomic():
        row.save(force_insert=True)
