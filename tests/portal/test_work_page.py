"""My answers: answers, times, feedback."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from loops.models import Loop
from portal import work
from reviews import services
from reviews.models import Request
from tests.answering import repeat_answers
from tests.dashboard.many import older
from tests.portal import signed_in, words
from tests.reviews.conftest import Make

pytestmark = pytest.mark.django_db


def answered(make: Make, by: User, *, after: int = 5, **changes: object) -> Request:
    """Answered so many seconds after it was asked."""
    request = make(**changes)
    services.answer_request(request=request, reviewer_id=by.pk, answer="yes")
    Request.objects.filter(pk=request.pk).update(
        created_at=F("response_at") - timedelta(seconds=after)
    )
    repeat_answers()
    return services.read_request(request.pk)


def test_what_how_fast_and_what_was_thought_of_it(owner: User, member: User, make: Make) -> None:
    slow = answered(make, member, after=95, request_text="# Is **this** slow?")
    answered(make, member, after=5)
    answered(make, owner, request_text="Not mine")
    make(request_text="Still open")
    services.add_feedback(request=slow, feedback={"rating": 4, "comment": "<b>Thanks"})
    page = words(signed_in(member).get("/my-work/"))
    assert "Answers 2 in 30 days Median time 50 s" in page
    assert "With feedback 1" in page
    assert "Is this slow? Refund desk, just now , after 1 min 35 s yes" in page
    assert "Feedback rating: 4 comment: <b>Thanks" in page
    assert "Not mine" not in page
    assert "Still open" not in page


def test_nobody_elses_and_nothing_of_a_loop_that_was_left(
    member: User, outsider: User, loop: Loop, make: Make
) -> None:
    answered(make, member)
    assert "No answers yet" in words(signed_in(outsider).get("/my-work/"))
    services.remove_member(loop_id=loop.pk, account_id=loop.creator_id, member_id=member.pk)
    assert "Should we refund" not in words(signed_in(member).get("/my-work/"))
    assert Client().get("/my-work/")["Location"] == "/accounts/login/?next=/my-work/"


def test_pages_of_thirty(member: User, make: Make) -> None:
    requests = [answered(make, member, request_text=f"Number {n:02}") for n in range(35)]
    same = requests[4].response_at  # two at one moment, on either side of the page's end
    Request.objects.filter(pk__in=[requests[4].pk, requests[5].pk]).update(response_at=same)
    repeat_answers()
    browser = signed_in(member)
    first = browser.get("/my-work/")
    links = first.content.decode().split('"')
    older = next(link for link in links if link.startswith("?before="))
    second = browser.get("/my-work/" + older)
    found = [n for n in range(35) for page in (first, second) if f"Number {n:02}" in words(page)]
    assert found == list(range(35))
    assert words(first).count("Number") == 30
    for odd in ("x", "1-x", "nan-" + "a" * 24, "1e999-" + "a" * 24):
        assert browser.get(f"/my-work/?before={odd}").status_code == 404


def test_times_of_the_newest_answers_alone(member: User, make: Make) -> None:
    slow = answered(make, member, after=600)
    assert slow.response_at
    long_ago = slow.response_at - timedelta(days=1)
    older(slow, 999, response_at=long_ago, created_at=long_ago - timedelta(seconds=600))
    browser = signed_in(member)
    page = words(browser.get("/my-work/"))
    assert "Answers 1000 in 30 days Median time 10 min from question to answer" in page
    older(slow, 600, created_at=slow.response_at - timedelta(seconds=5))
    services.add_feedback(request=slow, feedback={"rating": 4})
    page = words(browser.get("/my-work/"))
    assert "Answers 1600 in 30 days Median time 5 s of the newest 1,000 With feedback 1" in page


def test_so_many_answers_are_not_counted(member: User, make: Make) -> None:
    slow = answered(make, member)
    older(slow, work.MAX_COUNTED - 1)
    assert work.read_stats(member.pk)["answers"] == work.MAX_COUNTED
    older(slow, 1)
    assert work.read_stats(member.pk)["answers"] == "10,000+"


def test_statements(
    member: User, make: Make, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    browser = signed_in(member)
    for _ in range(3):
        services.add_feedback(request=answered(make, member), feedback={"rating": 5})
        with django_assert_num_queries(4):
            browser.get("/my-work/")
