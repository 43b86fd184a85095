"""A loop's figures: how approvals were decided, and how often several people agreed."""

import json
import time
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models.functions import Now
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from dashboard import decision_stats, loop_stats
from loops.models import Loop
from reviews import retention
from reviews.models import Request
from reviews.policy import Policy
from reviews.services import remove_member
from tests.dashboard.many import older
from tests.portal import signed_in, words
from tests.reviews.conftest import Make, make_overdue
from tests.reviews.test_policies import OPTIONS, PROPOSAL, RATING, answer, people, policy, read
from tests.reviews.test_policies import loop as loop
from webhooks.models import Delivery

pytestmark = pytest.mark.django_db


def figures(owner: User, loop: Loop) -> str:
    return words(signed_in(owner).get(f"/dashboard/loops/{loop.pk}/"))


def test_how_often_several_people_agreed(owner: User, loop: Loop, make: Make) -> None:
    first, second, third = people(loop, 3)
    majority: dict[str, Any] = {"response_config": OPTIONS, "policy": policy("majority", 3)}
    for values in (["yes", "no", "yes"], ["yes", "yes"], ["yes", "no", "maybe"]):
        request = make(**majority)
        for person, value in zip((first, second, third), values, strict=False):
            answer(request, person, value)
    vetoed = make(response_config=OPTIONS, policy=policy("majority", 3, veto=["no"]))
    answer(vetoed, first, "yes")
    answer(vetoed, second, "no")
    late = make(**majority)
    answer(late, first, "yes")
    make_overdue(late)
    read(late)
    middle = make(**RATING, policy=policy("median", 3))
    for person, stars in ((first, 2), (second, 4), (third, 5)):
        answer(middle, person, stars)
    answer(make(policy=Policy("first", 1).store()), first, "yes")
    answer(make(**majority), first, "yes")  # still open, so nobody learns of it
    page = figures(owner, loop)
    assert (
        "Agreement Requests of the last 90 days that needed several answers."
        " Decided 3 (50 %) Ended by a veto 1 (17 %) No agreement 1 (17 %)"
        " Too few people left 0 (0 %) Timed out 1 (17 %)"
        " Answers equal to the outcome 6 (60 %)" in page
    )
    assert "Approvals" not in page


def test_people_who_leave(owner: User, loop: Loop, make: Make) -> None:
    first, _ = people(loop, 2)
    make(policy=policy("unanimous", 2))
    remove_member(loop_id=loop.pk, account_id=owner.pk, member_id=first.pk)
    page = figures(owner, loop)
    assert "Too few people left 1 (100 %)" in page
    assert "Answers equal" not in page


def test_approvals_that_nobody_decided(owner: User, loop: Loop, make: Make) -> None:
    first, second = people(loop, 2)
    request = make(**PROPOSAL)
    make_overdue(request)
    read(request)
    together = make(**PROPOSAL, policy=policy("unanimous", 2))
    edited = {"action": "edit", "arguments": {"amount": 7, "note": {"b": 1, "a": 2}}}
    answer(together, first, edited)
    answer(together, second, edited)
    page = figures(owner, loop)
    assert (
        "Approved 0 (0 %) Approved with changes 1 (50 %) Rejected 0 (0 %) Replied 0 (0 %)"
        " Timed out 1 (50 %)" in page
    )
    assert "Answers equal to the outcome 2 (100 %)" in page


def test_nothing_without_such_requests(owner: User, loop: Loop, make: Make) -> None:
    (first,) = people(loop, 1)
    answer(make(), first, "yes")
    answer(make(policy=Policy("first", 1).store()), first, "yes")
    page = figures(owner, loop)
    assert "Approvals" not in page
    assert "Agreement" not in page


def scanned(plan: dict[str, Any]) -> int:
    """The rows that the scans of a plan have read."""
    below = sum(scanned(each) for each in plan.get("Plans", []))
    is_scan = "Relation Name" in plan
    read = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)
    return below + (int(read * plan["Actual Loops"]) if is_scan else 0)


def test_only_the_newest_are_read(
    owner: User, loop: Loop, make: Make, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    first, second = people(loop, 2)
    request = make(policy=policy("unanimous", 2))
    answer(request, first, "yes")
    answer(request, second, "yes")
    older(read(request), 3 * loop_stats.MAX_ANSWERS)
    with django_assert_num_queries(1):
        found, _figures = decision_stats.read_decisions(loop)
    assert found.outcomes[0].count == loop_stats.MAX_ANSWERS
    assert (found.agreed, found.answers) == (4000, 4000)
    params: dict[str, Any] = {"loop": loop.pk, "span": loop_stats.SPAN}
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {decision_stats._ENDED}", params)
        (explained,) = cursor.fetchone()
    plans = json.loads(explained) if isinstance(explained, str) else explained
    assert scanned(plans[0]["Plan"]) <= 2 * loop_stats.MAX_ANSWERS
    browser = signed_in(owner)
    with django_assert_num_queries(8):
        browser.get(f"/dashboard/loops/{loop.pk}/")


def test_the_figures_stay_when_texts_go(owner: User, loop: Loop, make: Make) -> None:
    """Then no argument of an edit is left to compare."""
    first, second, third = people(loop, 3)
    request = make(**PROPOSAL, policy=policy("majority", 3))
    for person, amount in ((first, 7), (second, 8), (third, 8)):
        arguments = {"amount": amount, "note": {"b": 1, "a": 2}}
        answer(request, person, {"action": "edit", "arguments": arguments})
    Loop.objects.filter(pk=loop.pk).update(keep_texts_days=4)
    Request.objects.update(response_at=Now() - timedelta(days=5))
    Delivery.objects.all().delete()
    retention.prune(until=time.monotonic() + 10)
    assert read(request).texts_removed_at
    assert "Answers equal to the outcome 2 (67 %)" in figures(owner, loop)
