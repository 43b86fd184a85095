"""Compares totals and pages with count(*) and the serializer after any sequence of changes."""

import json
from collections.abc import Callable
from contextlib import suppress
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.db.models import F, Q
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from accounts.models import User
from db.ids import owned_id
from loops.models import Loop
from loops.services import create_loop, join_loop
from reviews import counters, services, tasks
from reviews.lifecycle import states
from reviews.models import PRIORITIES, Request
from reviews.models.counters import Counter, CounterChange
from reviews.queries import listing
from reviews.representation import LISTED, encode
from tests.conftest import account
from tests.reviews.conftest import (
    FIELDS,
    Make,
    acting,
    by_the_clock,
    let_lease_run_out,
    make_overdue,
)

SORTS: dict[str, Callable[[Request], tuple[Any, ...]]] = {
    "created_at_desc": lambda row: (),
    "priority_desc": lambda row: (-row.priority_rank,),
    "status_asc": lambda row: (row.status,),
}
STATUS = st.sampled_from([None, *states.STATUSES])
PRIORITY = st.sampled_from([None, *PRIORITIES])
PLACE = st.integers(0, 30)


def by_counting(where: Q, window: listing.ListParams) -> tuple[list[dict[str, Any]], int]:
    """The page and the total by a look at every row, and at the clock."""
    found = [
        row
        for row in by_the_clock(where)
        if window.status in (None, row.status) and window.priority in (None, row.priority)
    ]
    found.sort(key=lambda row: (row.created_at, row.pk))
    if window.sort != "created_at_asc":
        found.reverse()
        found.sort(key=SORTS[window.sort])  # the rest stays in its order
    page = found[window.offset : window.offset + window.limit]
    return [LISTED.represent_stored(row) for row in page], len(found)


def by_listing(
    scope: listing.Scope, window: listing.ListParams
) -> tuple[list[dict[str, Any]], int]:
    found = listing.fetch(scope, window)
    return json.loads(encode(found.entries)), found.total


class Life(RuleBasedStateMachine):
    """Two accounts, three loops, and everything that can happen to their requests."""

    def __init__(self) -> None:
        super().__init__()
        self.block = transaction.atomic()
        self.block.__enter__()
        self.people = [account(f"life{number}") for number in range(3)]
        owners = (self.people[0], self.people[0], self.people[1])
        self.loops = [create_loop(owner_id=user.pk, name="L", icon="star") for user in owners]
        for loop in self.loops:
            join_loop(user=self.people[2], code=loop.invite_code)

    def teardown(self) -> None:
        try:
            self.every_total()
        finally:
            transaction.set_rollback(True)
            self.block.__exit__(None, None, None)

    def some(self, place: int) -> Request | None:
        """One of the requests, if there is any."""
        ids = list(Request.objects.order_by("id").values_list("pk", flat=True))
        return Request.objects.get(pk=ids[place % len(ids)]) if ids else None

    def attempt(self, place: int, move: Callable[[Request], object]) -> None:
        request = self.some(place)
        if request is None:
            return
        with suppress(services.TransitionLost, services.NotAReviewer), transaction.atomic():
            move(request)

    @rule(place=PLACE, priority=st.sampled_from(PRIORITIES), hook=st.booleans())
    def create(self, place: int, priority: str, hook: bool) -> None:
        loop = self.loops[place % 3]
        fields = {**FIELDS, "priority": priority}
        if hook:
            fields["callback_url"] = "http://127.0.0.1:9/"
        with suppress(services.LoopGone), transaction.atomic():
            services.create_request(loop_id=loop.pk, account=acting(loop.creator), fields=fields)

    @rule(place=PLACE, count=st.integers(1, 6))
    def copy(self, place: int, count: int) -> None:
        row = self.some(place)
        if row is not None:
            fields = [f.attname for f in Request._meta.concrete_fields if not f.generated]
            values = {name: getattr(row, name) for name in fields}
            Request.objects.bulk_create(
                [Request(**{**values, "id": owned_id(row.creator_id)}) for _ in range(count)]
            )

    @rule(place=PLACE)
    def claim(self, place: int) -> None:
        reviewer = self.people[2].pk
        self.attempt(place, lambda r: services.claim_request(request=r, reviewer_id=reviewer))

    @rule(place=PLACE)
    def release(self, place: int) -> None:
        reviewer = self.people[2].pk
        self.attempt(place, lambda r: services.release_claim(request=r, reviewer_id=reviewer))

    @rule(place=PLACE)
    def answer(self, place: int) -> None:
        reviewer = self.people[2].pk
        self.attempt(
            place, lambda r: services.answer_request(request=r, reviewer_id=reviewer, answer="yes")
        )

    @rule(place=PLACE)
    def cancel(self, place: int) -> None:
        self.attempt(
            place, lambda r: services.cancel_request(request_id=r.pk, account_id=r.creator_id)
        )

    @rule(places=st.sets(PLACE, min_size=1, max_size=4))
    def deadlines_pass(self, places: set[int]) -> None:
        for request in filter(None, map(self.some, places)):
            if request.status in states.OPEN:
                make_overdue(request)

    @rule(places=st.sets(PLACE, min_size=1, max_size=4))
    def leases_run_out(self, places: set[int]) -> None:
        for request in filter(None, map(self.some, places)):
            if request.status == states.CLAIMED:
                let_lease_run_out(request)

    @rule(sweep=st.sampled_from([tasks.settle_overdue, tasks.release_lapsed, tasks.fold_counters]))
    def sweep(self, sweep: Callable[[], int]) -> None:
        sweep()

    @rule(place=st.integers(0, 20))
    def delete_loop(self, place: int) -> None:
        if place < 3 and Loop.objects.alive().filter(pk=self.loops[place].pk).exists():
            services.delete_loop(
                loop_id=self.loops[place].pk, account_id=self.loops[place].creator_id
            )

    @rule(place=st.integers(0, 20))
    def remove_member(self, place: int) -> None:
        gone = self.people[2]
        if place < 3 and Loop.objects.of_member(gone.pk).filter(pk=self.loops[place].pk).exists():
            services.remove_member(
                loop_id=self.loops[place].pk,
                account_id=self.loops[place].creator_id,
                member_id=gone.pk,
            )

    @rule(
        place=PLACE,
        status=STATUS,
        priority=PRIORITY,
        sort=st.sampled_from(list(listing.ORDERS)),
        limit=st.integers(1, 4),
        offset=st.integers(0, 5),
    )
    def look(
        self, place: int, status: Any, priority: Any, sort: str, limit: int, offset: int
    ) -> None:
        window = listing.ListParams(status, priority, sort, limit, offset)
        scope, where = self.scopes()[place % 7]
        wanted = by_counting(where, window)  # before the list has settled anything
        assert by_listing(scope, window) == wanted

    @invariant()
    def nothing_is_forgotten(self) -> None:
        assert counters.find_differences() == []

    def scopes(self) -> list[tuple[listing.Scope, Q]]:
        owner, other = self.people[0].pk, self.people[1].pk
        return [
            (listing.scope_to_account(owner), Q(creator_id=owner)),
            (listing.scope_to_account(other), Q(creator_id=other)),
            *((listing.scope_to_loop(loop.pk), Q(loop_id=loop.pk)) for loop in self.loops),
            *(
                (
                    listing.scope_to_account_in_loop(owner, loop.pk),
                    Q(creator_id=owner, loop_id=loop.pk),
                )
                for loop in self.loops[1:]
            ),
        ]

    def every_total(self) -> None:
        """All filters of all lists, and what can still be answered."""
        for scope, where in self.scopes():
            for status in (None, *states.STATUSES):
                for priority in (None, *PRIORITIES):
                    window = listing.ListParams(status, priority, "created_at_desc", 1, 0)
                    wanted = by_counting(where, window)
                    assert by_listing(scope, window) == wanted
        ids = [loop.pk for loop in self.loops]
        still_open = Q(status__in=states.OPEN)
        assert {pk: n for pk, n in counters.count_open_by_loop(ids).items() if n} == {
            pk: n for pk in ids if (n := Request.objects.filter(still_open, loop_id=pk).count())
        }


@pytest.mark.contract("list.total", "timeout.clock")
def test_a_life_of_requests(db: None) -> None:
    run_state_machine_as_test(
        Life,
        settings=settings(
            max_examples=8,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_folding_keeps_every_number(make: Make, loop: Loop, member: User) -> None:
    for request in [make() for _ in range(6)][:2]:
        services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    assert CounterChange.objects.count() == 6 + 2 * 2
    assert tasks.fold_counters() == 10
    assert not CounterChange.objects.exists()
    sums = Counter.objects.filter(scope_id=loop.pk, n__gt=0).values_list("status", "n")
    assert dict(sums) == {"pending": 4, "completed": 2}
    assert counters.count_open_by_loop([loop.pk]) == {loop.pk: 4}
    assert tasks.fold_counters() == 0
    assert counters.find_differences() == []


def test_an_update_that_moves_nothing_changes_no_number(make: Make) -> None:
    made = make()
    before = CounterChange.objects.count()
    Request.objects.filter(pk=made.pk).update(notifications_sent=F("notifications_sent"))
    make_overdue(made)
    assert CounterChange.objects.count() == before


def test_the_operator_finds_and_repairs_wrong_totals(make: Make, loop: Loop) -> None:
    make()
    tasks.fold_counters()
    told = StringIO()
    call_command("recount", stdout=told)
    assert told.getvalue() == "All totals are correct.\n"
    Counter.objects.filter(scope_id=loop.pk).update(n=F("n") + 2)
    Counter.objects.filter(scope_id=loop.creator_id).delete()
    told = StringIO()
    with pytest.raises(CommandError, match=r"2 totals are wrong\. Use --repair to fix them"):
        call_command("recount", stdout=told)
    assert sorted(told.getvalue().splitlines()) == sorted(
        [
            f"{loop.pk} pending high: kept 3, counted 1",
            f"{loop.creator_id} pending high: kept 0, counted 1",
        ]
    )
    call_command("recount", "--repair", stdout=told)
    assert told.getvalue().endswith("2 totals repaired.\n")
    assert counters.find_differences() == []
