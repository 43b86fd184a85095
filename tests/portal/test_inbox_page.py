"""The inbox: open questions from all loops of a person."""

import re
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from loops.models import Loop
from loops.services import create_loop, join_loop
from reviews import services
from reviews.models import Request
from reviews.services import delete_loop, remove_member
from tests.portal import signed_in, words
from tests.reviews.conftest import FIELDS, Make, acting, let_lease_run_out, make_overdue

pytestmark = pytest.mark.django_db


def listed(answer: Any) -> list[str]:
    """The ids of the requests on the page, from top to bottom."""
    found: list[str] = re.findall(r'<li data-row="([0-9a-f]{24})">', answer.content.decode())
    return found


def in_loop(loop: Loop, owner: User, **changes: Any) -> Request:
    return services.create_request(
        loop_id=loop.pk, account=acting(owner), fields={**FIELDS, **changes}
    )


def test_critical_first_then_the_nearest_deadline(owner: User, member: User, make: Make) -> None:
    other = create_loop(owner_id=owner.pk, name="Legal", icon="x")
    join_loop(user=member, code=other.invite_code)
    low = make(priority="low", timeout_seconds=60)
    late = make(priority="critical", timeout_seconds=7200)
    soon = in_loop(other, owner, priority="critical", timeout_seconds=3600)
    high = make(priority="high")
    response = signed_in(member).get("/inbox/")
    assert listed(response) == [soon.pk, late.pk, high.pk, low.pk]
    page = words(response)
    assert "4 waiting for you" in page
    first = r"Critical 59 min left Should we refund order 4821\? Legal"
    assert re.search(first, page)
    assert "Low" in page


def test_only_what_waits_is_listed(owner: User, member: User, make: Make) -> None:
    answered, cancelled, overdue, waiting = make(), make(), make(), make()
    services.answer_request(request=answered, reviewer_id=owner.pk, answer="yes")
    services.cancel_request(request_id=cancelled.pk, account_id=owner.pk)
    make_overdue(overdue)
    assert listed(signed_in(member).get("/inbox/")) == [waiting.pk]


def test_claims_are_shown(owner: User, member: User, make: Make) -> None:
    mine, other, lapsed = make(priority="critical"), make(priority="medium"), make(priority="low")
    for request, reviewer in ((mine, member), (other, owner), (lapsed, owner)):
        services.claim_request(request=request, reviewer_id=reviewer.pk)
    let_lease_run_out(lapsed)
    response = signed_in(member).get("/inbox/")
    assert listed(response) == [mine.pk, other.pk, lapsed.pk]
    page = words(response)
    assert page.count("You’re on it") == 1
    assert page.count("Owner is on it") == 1


def test_an_empty_inbox_says_how_to_fill_it(outsider: User, make: Make) -> None:
    make()
    response = signed_in(outsider).get("/inbox/")
    assert listed(response) == []
    assert "I want to ask people" in words(response)
    assert "I was invited" in words(response)
    assert "You’re all caught up" not in words(response)
    for path in ("/join/", "/dashboard/#setup"):
        assert f'<a class="card" href="{path}">' in response.content.decode()


def test_former_members_and_deleted_loops_have_nothing(
    owner: User, member: User, outsider: User, loop: Loop, make: Make
) -> None:
    make()
    join_loop(user=outsider, code=loop.invite_code)
    remove_member(loop_id=loop.pk, account_id=loop.creator_id, member_id=outsider.pk)
    assert listed(signed_in(outsider).get("/inbox/")) == []
    delete_loop(loop_id=loop.pk, account_id=loop.creator_id)
    assert listed(signed_in(member).get("/inbox/")) == []
    assert listed(signed_in(owner).get("/inbox/")) == []


def test_pages_of_fifty(member: User, make: Make) -> None:
    made = {make().pk for _ in range(53)}
    browser = signed_in(member)
    first, second = browser.get("/inbox/"), browser.get("/inbox/?page=2")
    assert (len(listed(first)), len(listed(second))) == (50, 3)
    assert {*listed(first), *listed(second)} == made
    assert "1 of 2" in words(first)
    assert 'href="?page=2"' in first.content.decode()
    assert 'href="?page=1"' in second.content.decode()
    for odd, last in (("0", 3), ("99", 3), ("x", 50), ("-1", 3), ("9" * 5000, 50)):
        response = browser.get(f"/inbox/?page={odd}")
        assert (response.status_code, len(listed(response))) == (200, last)


def test_texts_are_escaped_and_shortened(member: User, make: Make) -> None:
    make(request_text="<b>bold</b>" + "x" * 1900)
    page = signed_in(member).get("/inbox/").content.decode()
    assert "<b>" not in page
    assert "x" * 140 not in page


def test_strangers_sign_in_first(db: None) -> None:
    response = Client().get("/inbox/")
    assert (response.status_code, response["Location"]) == (302, "/accounts/login/?next=/inbox/")


def test_the_start_page_leads_on(member: User) -> None:
    response = Client().get("/")
    assert "Sign up" in words(response)
    assert signed_in(member).get("/")["Location"] == "/inbox/"


def test_statements_do_not_grow(
    owner: User, member: User, make: Make, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    browser = signed_in(member)
    # session, person, loops, fingerprint, number of requests
    with django_assert_num_queries(5):
        browser.get("/inbox/")
    for number in range(12):
        other = create_loop(owner_id=owner.pk, name=f"Loop {number}", icon="x")
        join_loop(user=member, code=other.invite_code)
        services.claim_request(request=in_loop(other, owner), reviewer_id=owner.pk)
        make()
    with django_assert_num_queries(6):  # and the requests
        assert len(listed(browser.get("/inbox/"))) == 24
