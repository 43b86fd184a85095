"""Compares the overview's numbers with a count of every row."""

import random
from dataclasses import replace
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.db.models import Q
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from dashboard import stats
from loops.models import Loop
from loops.services import create_loop, join_loop
from reviews import counters, services
from reviews.models import PRIORITIES, Request
from tests.answering import repeat_answers
from tests.dashboard.many import older
from tests.portal import signed_in, words
from tests.reviews.conftest import (
    FIELDS,
    Make,
    acting,
    by_the_clock,
    let_lease_run_out,
    make_overdue,
)

pytestmark = pytest.mark.django_db

ZONES = ("UTC", "Pacific/Auckland", "America/St_Johns")


def scatter(dice: random.Random, loops: list[Loop], reviewer: User) -> None:
    """Eighty requests of any priority, deadline and state, ended at any time of ten days."""
    for _ in range(80):
        loop = dice.choice(loops)
        fields = {"priority": dice.choice(PRIORITIES), "timeout_seconds": dice.randint(60, 90)}
        item = services.create_request(
            loop_id=loop.pk, account=acting(loop.creator), fields={**FIELDS, **fields}
        )
        fate = dice.randrange(8)
        if fate in (0, 1):
            services.claim_request(request=item, reviewer_id=reviewer.pk)
        if fate == 1:
            let_lease_run_out(item)
        elif fate == 2:
            make_overdue(item)
        elif fate in (3, 4):
            services.answer_request(request=item, reviewer_id=reviewer.pk, answer="yes")
        elif fate == 5:
            make_overdue(item)
            services.read_request(item.pk)
        ended_at = timezone.now() - timedelta(hours=dice.uniform(0, 240))
        ended = Request.objects.filter(pk=item.pk)
        ended.filter(status="completed").update(
            response_at=ended_at, created_at=ended_at - timedelta(seconds=dice.randint(1, 999))
        )
        ended.filter(status="timeout").update(timeout_at=ended_at)
        repeat_answers()
        if fate == 6:
            counters.aggregate()


@pytest.fixture(params=range(3))
def _scattered(request: pytest.FixtureRequest, owner: User, member: User, outsider: User) -> None:
    owners = (owner, owner, outsider)
    loops = [create_loop(owner_id=each.pk, name="L", icon="x") for each in owners]
    for loop in loops:
        join_loop(user=member, code=loop.invite_code)
    scatter(random.Random(request.param), loops, member)


@pytest.mark.usefixtures("_scattered")
def test_what_waits(owner: User, outsider: User) -> None:
    for user in (owner, outsider):
        rows = by_the_clock(Q(creator_id=user.pk))
        for waiting in stats.read_waiting(user.pk):
            of_this = [row for row in rows if row.priority == waiting.priority]
            still_open = [row for row in of_this if row.status in ("pending", "claimed")]
            assert waiting == stats.Waiting(
                waiting.priority,
                len(still_open),
                sum(row.status == "claimed" for row in still_open),
                min((row.timeout_at for row in still_open), default=None),
            )


@pytest.mark.usefixtures("_scattered")
@pytest.mark.parametrize("zone", ZONES)
def test_what_the_days_brought(owner: User, zone: str) -> None:
    rows = by_the_clock(Q(creator_id=owner.pk))
    stats.read_waiting(owner.pk)  # it settles first
    with timezone.override(zone):
        days, whole = stats.read_days(owner.pk)
    assert len(days) == stats.DAYS
    assert days[-1].day == datetime.now(ZoneInfo(zone)).date()

    every: list[float] = []
    for day in days:
        late = [row for row in rows if row.status == "timeout" and on(day, row.timeout_at, zone)]
        took = [
            (row.response_at - row.created_at).total_seconds()
            for row in rows
            if row.response_at and on(day, row.response_at, zone)
        ]
        every += took
        assert (rounded(day.times), day.timeouts) == (times_of(took), len(late))
    assert rounded(whole) == times_of(every)


def on(day: stats.Day, moment: datetime, zone: str) -> bool:
    return moment.astimezone(ZoneInfo(zone)).date() == day.day


def times_of(took: list[float]) -> stats.AnswerTimes:
    """With percentiles between two neighbours, as PostgreSQL has them."""
    if not took:
        return stats.AnswerTimes()
    median, tenth = (round(percentile(sorted(took), share), 3) for share in (0.5, 0.9))
    return stats.AnswerTimes(len(took), median, tenth)


def rounded(times: stats.AnswerTimes) -> stats.AnswerTimes:
    """To milliseconds."""
    if times.median is None or times.slowest_tenth is None:
        return times
    return replace(
        times, median=round(times.median, 3), slowest_tenth=round(times.slowest_tenth, 3)
    )


def percentile(values: list[float], share: float) -> float:
    place = share * (len(values) - 1)
    low, high = values[int(place)], values[min(int(place) + 1, len(values) - 1)]
    return low + (high - low) * (place - int(place))


@pytest.fixture
def _busy_day(make: Make, member: User) -> None:
    """Yesterday at noon: 300 answers after a minute, and 300 earlier ones after an hour."""
    noon = datetime.combine(timezone.localdate() - timedelta(days=1), time(12), ZoneInfo("UTC"))
    request = make()
    services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    Request.objects.filter(pk=request.pk).update(response_at=noon - timedelta(minutes=3))
    request = services.read_request(request.pk)
    for count, answered_at, minutes in ((300, noon, 1), (300, noon - timedelta(minutes=5), 60)):
        asked_at = answered_at - timedelta(minutes=minutes)
        older(request, count, created_at=asked_at, response_at=answered_at)


@pytest.mark.usefixtures("_busy_day")
def test_times_of_the_newest_answers_alone(owner: User) -> None:
    days, whole = stats.read_days(owner.pk)
    assert days[-2].times == whole == stats.AnswerTimes(601, 60, 60)
    page = words(signed_in(owner).get("/dashboard/"))
    assert "Answered 601 in the last 7 days" in page
    assert "Answer times are based on each day’s newest 300 answers." in page


@pytest.mark.usefixtures("_busy_day")
def test_days_are_read_off_their_indexes(owner: User) -> None:
    with connection.cursor() as cursor:
        for other in ("seqscan", "bitmapscan"):  # they are cheap while rows are few
            cursor.execute(f"SET LOCAL enable_{other} = off")
        with CaptureQueriesContext(connection) as captured:
            stats.read_days(owner.pk)
        plans = []
        for each in captured:
            cursor.execute(f"EXPLAIN {each['sql']}")
            plans.append("\n".join(row[0] for row in cursor.fetchall()))
    assert "Index Only Scan using answer_account" in plans[0]
    assert "Index Only Scan using request_timeouts" in plans[0]
    assert "Index Only Scan Backward using answer_account" in plans[0]
