"""The list of requests: filters, search and pages, all in the URL."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from dashboard.request_list import format_answer
from loops.models import Loop
from loops.services import create_loop
from reviews import services
from reviews.models import Request
from tests.dashboard.many import copies
from tests.portal import signed_in, words
from tests.reviews.conftest import FIELDS, Make, acting, let_lease_run_out, make_overdue

pytestmark = pytest.mark.django_db

LIST = "/dashboard/requests/"


def listed(answer: Any) -> list[str]:
    """The ids of the requests on the page, from top to bottom."""
    table = answer.content.decode().partition("<tbody")[2]
    found: list[str] = re.findall(rf'href="{LIST}([0-9a-f]{{24}})/"', table)
    return found


def ids(*requests: Request) -> list[str]:
    return [request.pk for request in requests]


def test_newest_first_with_all_that_matters(owner: User, member: User, make: Make) -> None:
    waiting, answered, late = make(), make(priority="critical"), make(priority="low")
    services.answer_request(request=answered, reviewer_id=member.pk, answer="yes")
    make_overdue(late)
    response = signed_in(owner).get(LIST)
    assert listed(response) == ids(late, answered, waiting)
    page = words(response)
    assert "Refund desk Critical yes Critical Completed yes just now" in page
    assert "Refund desk High due in 9 min High Pending due in 9 min just now" in page
    assert "Refund desk no Low Timed out no just now" in page
    assert "3 requests" in page


def test_filters(owner: User, member: User, loop: Loop, make: Make) -> None:
    other = create_loop(owner_id=owner.pk, name="Legal", icon="x")
    legal = services.create_request(loop_id=other.pk, account=acting(owner), fields=FIELDS)
    late, lapsed, claimed = make(), make(), make(priority="critical")
    for request in (lapsed, claimed):
        services.claim_request(request=request, reviewer_id=member.pk)
    let_lease_run_out(lapsed)
    make_overdue(late)
    browser = signed_in(owner)
    for query, expected in {
        "status=pending": ids(lapsed, legal),
        "status=timeout": ids(late),
        "status=claimed": ids(claimed),
        "status=open": ids(claimed, lapsed, legal),
        "status=completed": [],
        "priority=critical": ids(claimed),
        f"loop={loop.pk}": ids(claimed, lapsed, late),
        f"loop={other.pk}&status=pending": ids(legal),
        "q=refund&status=timeout": ids(late),
        "q=refund&status=pending": ids(lapsed, legal),
        f"q=refund&loop={other.pk}&priority=high": ids(legal),
        f"q={late.pk}": ids(late),
    }.items():
        response = browser.get(f"{LIST}?{query}")
        assert listed(response) == expected, query
        assert "Clear" in words(response)
    page = browser.get(f"{LIST}?status=timeout&q=refund").content.decode()
    assert '<option value="timeout" selected>' in page
    assert 'value="refund"' in page


def test_the_loop_of_the_link_is_offered_however_old(owner: User, loop: Loop, make: Make) -> None:
    request = make()
    for number in range(101):
        create_loop(owner_id=owner.pk, name=f"L{number}", icon="x")
    browser = signed_in(owner)
    assert listed(browser.get(f"{LIST}?loop={loop.pk}")) == [request.pk]
    html = browser.get(f"{LIST}new/?loop={loop.pk}").content.decode()
    assert f'<option value="{loop.pk}" selected>' in html


def test_days_are_the_readers_own(owner: User, make: Make) -> None:
    User.objects.filter(pk=owner.pk).update(time_zone="Pacific/Auckland")
    noon_in_utc = timezone.now().replace(hour=12) - timedelta(days=3)
    request = make()  # noon of one day is past midnight of the next in Auckland
    Request.objects.filter(pk=request.pk).update(created_at=noon_in_utc)
    day, after = (f"{noon_in_utc + timedelta(days=n):%Y-%m-%d}" for n in (0, 1))
    browser = signed_in(owner)
    for query, expected in {
        f"since={after}": [request.pk],
        f"since={after}&until={after}": [request.pk],
        f"until={day}": [],
        f"since={day}&until={day}": [],
    }.items():
        assert listed(browser.get(f"{LIST}?{query}")) == expected, query


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("status=lost", "Choose one of these"),
        ("loop=" + "0" * 24, "Choose one of these"),
        ("priority=x%00y", "Choose one of these"),
        ("since=yesterday", "Enter a valid date."),
        ("since=2026-02-03&until=2026-02-02", "The last day is before the first"),
        ("q=" + "x" * 201, "at most 200 characters"),
    ],
)
def test_filters_that_there_are_not(owner: User, make: Make, query: str, sentence: str) -> None:
    make()
    response = signed_in(owner).get(f"{LIST}?{query}")
    assert (response.status_code, listed(response)) == (422, [])
    assert sentence in words(response)


def test_nothing_found_and_nothing_there(owner: User, outsider: User, make: Make) -> None:
    page = words(signed_in(outsider).get(LIST))
    assert "No requests yet" in page
    assert "Create one first. New loop" in page
    make()
    page = words(signed_in(owner).get(f"{LIST}?q=zebra"))
    assert "No matching requests" in page
    assert "Show all" in page


def test_an_empty_list_teaches(owner: User, loop: Loop) -> None:
    page = words(signed_in(owner).get(LIST))
    assert f"/v1/api/loops/{loop.pk}/requests" in page


def test_only_my_own(member: User, outsider: User, owner: User, make: Make) -> None:
    request = make()
    for person in (member, outsider):
        for query in ("", "?q=refund", f"?q={request.pk}", "?status=pending"):
            assert listed(signed_in(person).get(LIST + query)) == []


@pytest.mark.parametrize(
    ("query", "statements"), [("", 5), ("?status=completed", 5), ("?q=refund&priority=high", 7)]
)
def test_page_by_page_at_the_same_cost(
    owner: User,
    member: User,
    make: Make,
    query: str,
    statements: int,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    request = make(request_text="Refund? " + "很长的词" * 100)
    services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    request = services.read_request(request.pk)
    made = copies(request, 130)
    for number in range(120):
        create_loop(owner_id=owner.pk, name=f"{chr(38263) * 95} {number}", icon="x")
    browser, found, path = signed_in(owner), [], LIST + query
    while path:
        with django_assert_max_num_queries(statements):
            response = browser.get(path)
        assert len(response.content) < 64_000
        found += listed(response)
        older = re.search(r'href="([^"]+)">Older', response.content.decode())
        path = LIST + older[1].replace("&amp;", "&") if older else ""
    assert found == ids(request, *made)


def test_pages_that_there_are_not(owner: User, make: Make) -> None:
    make()
    browser = signed_in(owner)
    assert listed(browser.get(f"{LIST}?page=x")) != []
    assert listed(browser.get(f"{LIST}?page=0")) != []
    assert listed(browser.get(f"{LIST}?page=999999999999")) != []
    assert listed(browser.get(f"{LIST}?page=7")) == []
    assert browser.get(f"{LIST}?q=refund&before=x").status_code == 404


def test_strangers_come_back(client: Any) -> None:
    response = client.get(f"{LIST}?status=pending")
    assert response["Location"] == f"/accounts/login/?next={LIST}%3Fstatus%3Dpending"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, ""),
        ('"yes"', "yes"),
        ("4.5", "4.5"),
        ('["a","b"]', "a, b"),
        ('"a long one that was cut', "a long one that was cut …"),
        ('"she said \\"no\\"\\n, and', 'she said "no"\n, and …'),
        ('"cut in an escape \\', "cut in an escape  …"),
        ('"cut in an escape \\u001', "cut in an escape  …"),
        ('["first", "sec', "first, sec …"),
        ('["first", "', "first,  …"),
        ('["first",', "first …"),
        ('["first"', "first …"),
        ("[]", ""),
        ('{"amount":5,"ok":true,"tags":["a","b"]}', "amount: 5; ok: Yes; tags: a, b"),
        ('{"amount":5,"note":"she said \\"n', 'amount: 5; note: she said "n …'),
        ('{"amount":5,"no', "amount: 5 …"),
        ('{"amount":5,', "amount: 5 …"),
        ('{"amount":5,"a_name_that_is_longer_than_what_is_sho', "amount: 5 …"),
        ('{"tags":["a","b', "tags: a, b …"),
        ("{}", ""),
    ],
)
def test_an_answer_in_one_line(answer: str | None, said: str) -> None:
    assert format_answer(answer) == said
