"""The inbox by loop, answer type and words, and the questions opened from it."""

import random
import re
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from loops.models import Loop
from loops.services import create_loop, join_loop
from portal.inbox_filter import InboxFilter
from reviews import services
from reviews.models import Request
from reviews.queries import filtered_questions, search
from reviews.queries.open_questions import read_waiting
from tests.dashboard.many import copies
from tests.portal import attribute, signed_in, words
from tests.portal.test_inbox_page import in_loop, listed
from tests.portal.test_polling import Open
from tests.reviews.conftest import Make, by_the_clock

pytestmark = pytest.mark.django_db
TEXT: dict[str, Any] = {
    "response_type": "text",
    "response_config": {},
    "default_response": "x",
}


@pytest.fixture
def other(owner: User, member: User) -> Loop:
    loop = create_loop(owner_id=owner.pk, name="Legal", icon="x")
    join_loop(user=member, code=loop.invite_code)
    return loop


def test_by_loop_type_and_words(owner: User, member: User, other: Loop, make: Make) -> None:
    refund, note = make(priority="critical"), make(**TEXT, request_text="Write a *note* to Ada")
    contract = in_loop(other, owner, **TEXT, request_text="May the contract go out?")
    services.claim_request(request=note, reviewer_id=owner.pk)  # shown, as in the whole inbox
    browser = signed_in(member)
    for query, found in {
        "": [refund, note, contract],
        "?type=text": [note, contract],
        f"?type=text&loop={other.pk}": [contract],
        "?q=NOT": [note],
        "?q=contract,+out!": [contract],
        "?q=ada&type=single_select": [],
        "?q=%26": [],
        "?q=%00refund": [refund],
        f"?type=lost&loop={refund.pk}&q=++": [refund, note, contract],
    }.items():
        response = browser.get(f"/inbox/{query}")
        assert set(listed(response)) == {each.pk for each in found}, query
    page = words(browser.get(f"/inbox/?q=out&type=text&loop={other.pk}"))
    assert "1 found in Legal" in page
    nothing = browser.get("/inbox/?q=zebra")
    assert "No matching questions" in words(nothing)
    assert 'value="zebra"' in nothing.content.decode()


def test_the_order_and_the_others_loops(
    owner: User, member: User, outsider: User, other: Loop, make: Make
) -> None:
    dice = random.Random(3)
    for _ in range(24):
        kind = TEXT if dice.random() < 0.5 else {}
        make(priority=dice.choice(("low", "critical")), **kind)
    hidden = create_loop(owner_id=owner.pk, name="Hidden", icon="x")
    in_loop(hidden, owner, **TEXT, request_text="Should we refund the secret?")
    texts = [each for each in by_the_clock() if each.response_type == "text"]
    wanted = sorted(texts, key=lambda each: (-each.priority_rank, each.timeout_at, each.pk))
    mine = [each.pk for each in wanted if each.loop_id != hidden.pk]
    for chosen in (InboxFilter(type="text"), InboxFilter(type="text", q="refund")):
        found = read_waiting(member.pk, 99, chosen)
        assert (found.ids, found.total, found.is_partial) == (mine, len(mine), False)
        assert read_waiting(outsider.pk, 99, chosen).ids == []


def test_beyond_what_is_scanned_the_index_finds_rare_words(
    member: User, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    rare = make(request_text="A rare zebra", priority="low")
    common = [make(request_text="A common horse") for _ in range(6)]
    monkeypatch.setattr(filtered_questions, "MAX_SCANNED", 3)
    monkeypatch.setattr(search, "MAX_INDEXED", 4)
    browser = signed_in(member)
    note = "Only the 3 most urgent questions were searched."
    found = browser.get("/inbox/?q=zebra")
    assert listed(found) == [rare.pk]
    assert note not in words(found)
    found = browser.get("/inbox/?q=horse")
    assert listed(found) == [each.pk for each in common[:3]]
    assert note in words(found)
    assert "3 or more found" in words(found)
    assert note in words(browser.get("/inbox/?type=number"))
    assert listed(browser.get("/inbox/?type=number")) == []
    # „ is nothing that can be searched for, so nothing is looked up
    assert listed(browser.get("/inbox/?q=„")) == []


def test_the_pages_and_links_keep_the_filter(
    owner: User, member: User, other: Loop, make: Make
) -> None:
    copies(make(**TEXT), 52)
    browser = signed_in(member)
    first = browser.get("/inbox/?type=text&q=refund")
    assert len(listed(first)) == 50
    html = first.content.decode()
    assert 'href="?type=text&amp;q=refund&amp;page=2"' in html
    assert f'href="?loop={other.pk}&amp;type=text&amp;q=refund"' in html
    assert f'href="/inbox/{listed(first)[0]}/?type=text&amp;q=refund"' in html
    assert len(listed(browser.get("/inbox/?type=text&q=refund&page=2"))) == 3


def test_the_next_question_comes_from_the_same_list(
    owner: User, member: User, other: Loop, make: Make
) -> None:
    make(priority="critical")
    first, second = (in_loop(other, owner, priority=each) for each in ("high", "low"))
    browser = signed_in(member)
    query = f"loop={other.pk}"
    page = browser.get(f"/inbox/{first.pk}/?{query}")
    assert "Refund desk 1 of 2" not in words(page)
    assert "Legal 1 of 2" in words(page)
    assert f'href="/inbox/?{query}" data-key="back"' in re.sub(r"\s+", " ", page.content.decode())
    to_second = browser.post(f"/inbox/{first.pk}/answer/?{query}", {"answer": "yes"})["Location"]
    assert to_second == f"/inbox/{second.pk}/?n=1&sent={first.pk}&{query}"
    done = browser.post(f"/inbox/{second.pk}/answer/?n=1&{query}", {"answer": "yes"}, follow=True)
    assert "1 more question." in words(done)  # in the other loop


def test_true_numbers(member: User, make: Make) -> None:
    first, *_ = copies(make(), 166)
    browser = signed_in(member)
    top = read_waiting(member.pk, 1).ids[0]
    assert "1 of 167" in words(browser.get(f"/inbox/{top}/"))
    services.answer_request(
        request=services.read_request(first.pk), reviewer_id=member.pk, answer="yes"
    )
    page = words(browser.get(f"/inbox/{first.pk}/done/"))
    assert "166 more questions." in page


def test_the_list_beside_the_question(member: User, make: Make) -> None:
    waiting = [make(priority="critical", request_text="# Mine\n\nmore"), make(), make()]
    page = signed_in(member).get(f"/inbox/{waiting[1].pk}/?n=4&type=single_select")
    html = page.content.decode()
    rows = re.findall(r'<li data-row="(\w+)">\s*<a href="([^"]*)" data-go([^>]*)>', html)
    assert rows == [
        (
            each.pk,
            f"/inbox/{each.pk}/?n=4&amp;type=single_select",
            ' aria-current="page"' if each == waiting[1] else "",
        )
        for each in waiting
    ]
    assert "Mine Handled Critical 9 min left Refund desk" in words(page)
    assert re.search(r'<nav class="sidebar"[^>]* data-top>', html)


def test_new_ones_are_counted_by_the_filter(member: User, make: Make) -> None:
    make(**TEXT)
    inbox = Open(member)
    make(**TEXT, request_text="A note")
    make()
    for chosen, count in (
        ({}, 2),
        ({"type": "text"}, 1),
        ({"q": "note"}, 1),
        ({"q": "refund", "type": "text"}, 0),
        ({"q": "„"}, 0),
    ):
        inbox.version = "old"
        inbox.query |= {"type": "", "q": "", **chosen}
        assert inbox.news()["new"] == count, chosen


def test_statements_do_not_grow(
    member: User,
    make: Make,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    browser = signed_in(member)
    request = make()
    for count in (0, 40):
        copies(request, count)
        for query in (
            f"loop={request.loop_id}",
            "type=single_select",
            "q=refund&type=single_select",
        ):
            # session, person, loops, state, number, rows
            with django_assert_num_queries(6):
                assert listed(browser.get(f"/inbox/?{query}"))
            with django_assert_num_queries(6):
                browser.get(f"/inbox/{request.pk}/?{query}")
    monkeypatch.setattr(filtered_questions, "MAX_SCANNED", 9)
    with django_assert_num_queries(7):  # and the index
        browser.get("/inbox/?q=refund")


def test_no_field_without_questions(member: User, loop: Loop) -> None:
    page = signed_in(member).get("/inbox/")
    assert "You’re all caught up" in words(page)
    assert attribute(page, "data-q") == ""
    assert 'name="q"' not in page.content.decode()
    assert Request.objects.count() == 0
