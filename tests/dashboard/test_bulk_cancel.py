"""Cancelling what is selected: asked once more, each by itself, and what became of it."""

from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from loops.services import join_loop
from reviews import services
from reviews.models import Request
from tests.portal import signed_in, words
from tests.reviews.conftest import Make, make_overdue

pytestmark = pytest.mark.django_db
LIST, CANCEL = "/dashboard/requests/", "/dashboard/requests/cancel/"


def post(user: User, chosen: list[Request], query: str = "", **fields: str) -> Any:
    ids = [each.pk for each in chosen]
    return signed_in(user).post(f"{CANCEL}{query}", {"selected": ids, **fields}, follow=True)


def statuses(*requests: Request) -> list[str]:
    found = dict(Request.objects.values_list("pk", "status"))
    return [found[each.pk] for each in requests]


def test_a_page_asks_first_and_nothing_has_happened_yet(owner: User, make: Make) -> None:
    first, second = make(request_text="Refund **4821**?"), make()
    response = post(owner, [first, second], "?status=pending")
    page = words(response)
    assert "Cancel 2 requests?" in page
    assert "Refund 4821?" in page
    assert f'href="{LIST}?status=pending"' in response.content.decode()
    assert statuses(first, second) == ["pending", "pending"]


def test_each_by_itself_and_what_became_of_it(
    owner: User, member: User, outsider: User, make: Make
) -> None:
    pending = [make(), make()]
    done, late, claimed, theirs = make(), make(), make(), make()
    join_loop(user=member, code=done.loop.invite_code)
    services.answer_request(request=done, reviewer_id=member.pk, answer="yes")
    services.claim_request(request=claimed, reviewer_id=member.pk)
    make_overdue(late)
    chosen = [*pending, done, late, claimed]
    response = post(owner, chosen, "?priority=high", confirmed="1")
    assert response.redirect_chain == [(f"{LIST}?priority=high", 302)]
    sentence = "2 cancelled, 2 had already ended, 1 is being answered right now."
    assert sentence in words(response)
    ends = ["cancelled", "cancelled", "completed", "timeout", "claimed", "pending"]
    assert statuses(*chosen, theirs) == ends
    assert "0 cancelled." in words(post(outsider, [theirs], confirmed="1"))
    assert statuses(theirs) == ["pending"]


@pytest.mark.parametrize("ids", [[], ["x", "%00"]])
def test_nothing_selected(owner: User, ids: list[str]) -> None:
    response = signed_in(owner).post(CANCEL, {"selected": ids}, follow=True)
    assert "Select pending requests to cancel first." in words(response)


def test_only_pending_ones_can_be_selected(owner: User, make: Make) -> None:
    pending, cancelled = make(), make()
    services.cancel_request(request_id=cancelled.pk, account_id=owner.pk)
    page = signed_in(owner).get(LIST).content.decode()
    assert f'value="{pending.pk}"' in page
    assert f'value="{cancelled.pk}"' not in page


def test_no_more_than_a_page(
    owner: User, make: Make, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    requests = [make() for _ in range(31)]
    browser = signed_in(owner)
    browser.post(CANCEL, {"selected": [each.pk for each in requests], "confirmed": "1"})
    assert Request.objects.filter(status="pending").count() == 1


def test_a_get_leads_to_the_list(owner: User) -> None:
    assert signed_in(owner).get(CANCEL)["Location"] == LIST
