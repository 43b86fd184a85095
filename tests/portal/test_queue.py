"""Compares a person's queue, merged from the loops' orders, with a sort of everything."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.models import Q
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from bench import seed
from loops.models import Loop
from loops.services import create_loop, join_loop
from portal.inbox_filter import InboxFilter
from reviews import services
from reviews.lifecycle.settling import settle_first
from reviews.models import PRIORITIES, Request
from reviews.queries import queue
from reviews.queries.open_questions import EVERYTHING, Queue, read_waiting
from tests.reviews.conftest import FIELDS, acting, by_the_clock, let_lease_run_out, make_overdue

pytestmark = pytest.mark.django_db


def scatter(dice: random.Random, loops: list[Loop], owner: User, member: User) -> None:
    """Sixty requests of any priority, deadline and state."""
    for _ in range(60):
        fields = {"priority": dice.choice(PRIORITIES), "timeout_seconds": dice.randint(60, 90)}
        item = services.create_request(
            loop_id=dice.choice(loops).pk, account=acting(owner), fields={**FIELDS, **fields}
        )
        fate = dice.randrange(8)
        if fate < 3:
            services.claim_request(request=item, reviewer_id=(owner if fate else member).pk)
        if fate == 2:
            let_lease_run_out(item)
        elif fate == 3:
            make_overdue(item)
        elif fate == 4:
            services.answer_request(request=item, reviewer_id=owner.pk, answer="yes")


def expected(loops: list[Loop]) -> list[Request]:
    """By a look at every row, and at the clock."""
    every = by_the_clock(Q(loop__in=loops))
    waiting = [item for item in every if item.status in ("pending", "claimed")]
    return sorted(waiting, key=lambda item: (-item.priority_rank, item.timeout_at, item.pk))


@pytest.mark.parametrize("seed", range(4))
def test_slices_and_numbers(owner: User, member: User, outsider: User, seed: int) -> None:
    loops = [create_loop(owner_id=owner.pk, name=f"Loop {n}", icon="x") for n in range(4)]
    for each, entered in ((member, loops), (outsider, loops[:3])):
        for loop in entered:
            join_loop(user=each, code=loop.invite_code)
    scatter(random.Random(seed), loops, owner, member)
    mine = loops[:3]
    wanted = [item.pk for item in expected(mine)]
    ids = [loop.pk for loop in mine]
    settle_first(queue.build_scope(outsider.pk, None))
    waiting = Queue(outsider.pk, ids, EVERYTHING)
    assert waiting.count() == len(wanted)
    for start, stop in ((0, 5), (5, 10), (17, 23), (0, 99), (50, 99)):
        assert [item.pk for item in waiting[start:stop]] == wanted[start:stop]
    one = Queue(outsider.pk, ids, InboxFilter(loop=ids[1]))
    wanted = [item.pk for item in expected(mine[1:2])]
    assert (one.count(), [item.pk for item in one[0:99]]) == (len(wanted), wanted)
    assert Queue(outsider.pk, ids, InboxFilter(loop=loops[3].pk))[0:99] == []


def test_what_others_hold_is_not_answerable(owner: User, member: User, loop: Loop) -> None:
    scatter(random.Random(7), [loop], owner, member)
    wanted = [
        item.pk
        for item in expected([loop])
        if item.status == "pending" or item.claimed_by_id == member.pk
    ]
    everything = read_waiting(member.pk, 99)
    assert (everything.ids, everything.total) == (wanted, len(wanted))
    some = read_waiting(member.pk, 4, InboxFilter(loop=loop.pk))
    assert (some.ids, some.total, some.is_partial) == (wanted[:4], len(wanted), False)


def test_a_question_reads_little_of_a_long_queue(member: User, loop: Loop) -> None:
    with connection.cursor() as cursor:
        cursor.execute(seed._MIXED, {"loops": [loop.pk], "most": 1, "count": 8_000})
        cursor.execute("ANALYZE reviews_request")
    with CaptureQueriesContext(connection) as captured:
        assert len(read_waiting(member.pk, 100).ids) == 100
    (statement,) = captured
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {statement['sql']}")
        ((plan,),) = cursor.fetchall()
    assert sum(rows for name, rows in visited(plan[0]["Plan"]) if name == "reviews_request") < 200


def visited(node: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """The tables that a plan reads, and how many of their rows."""
    rows = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
    yield node.get("Relation Name", ""), rows * node["Actual Loops"]
    for child in node.get("Plans", ()):
        yield from visited(child)
