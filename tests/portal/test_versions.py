"""The versions of a question on the reviewer's and the account's pages."""

import re
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from reviews import services
from reviews.models import Request
from reviews.queries import versions
from tests.portal import signed_in, words
from tests.reviews.conftest import Make
from tests.reviews.test_versions import replace

pytestmark = pytest.mark.django_db
NEWER = "There is a newer version of this question. Go to the newest version"
PAGES = ("/inbox/{}/", "/dashboard/requests/{}/")


def read(browser: Client, request: Request) -> str:
    return words(browser.get(f"/inbox/{request.pk}/"))


def find_links(browser: Client, path: str) -> dict[str, str]:
    """The links between the versions, by their words."""
    source = browser.get(path).content.decode()
    [section] = re.findall(r'<section class="card versions".*?</section>', source, re.S)
    found = re.findall(r'<a class="tap"\s+href="([^"?]*)[^"]*"\s+data-go>([^<]*)</a>', section)
    return {text: link for link, text in found}


def test_the_chain(make: Make, owner: User, member: User) -> None:
    first = make()
    second = replace(first, owner)
    third = replace(second, owner)
    for person, page in zip((member, owner), PAGES, strict=True):
        browser = signed_in(person)
        before, here, newest = (page.format(each.pk) for each in (first, second, third))
        assert find_links(browser, before) == {"Next version": here, "Newest version": newest}
        assert find_links(browser, here) == {"Previous version": before, "Next version": newest}
        assert find_links(browser, newest) == {"Previous version": here}
        for number, path in enumerate((before, here, newest), start=1):
            assert f"Version {number} of 3" in words(browser.get(path))
            said = "There is a newer version of this" in words(browser.get(path))
            assert said == (number < 3)


def test_a_question_alone_says_nothing(make: Make, owner: User, member: User) -> None:
    request = make()
    assert "ersion" not in read(signed_in(member), request)
    assert "Version" not in words(signed_in(owner).get(PAGES[1].format(request.pk)))


def test_whoever_has_it_open_is_led_to_the_newest(make: Make, owner: User, member: User) -> None:
    older = make(response_type="text", response_config={}, default_response="x")
    services.claim_request(request=older, reviewer_id=member.pk)
    browser = signed_in(member)
    newer = replace(older, owner)
    page = browser.post(f"/inbox/{older.pk}/answer/?n=2", {"answer": "Half a sentence"})
    assert page.status_code == 409
    assert NEWER in words(page)
    assert "Your unsent answer It wasn’t sent. You can copy it from here. Half a" in words(page)
    ways = re.findall(
        r'<a [^>]*href="([^"]*)"[^>]*>Go to the newest version<', page.content.decode()
    )
    assert ways == [f"/inbox/{newer.pk}/?n=2"] * 2


def test_what_has_changed(make: Make, owner: User, member: User) -> None:
    older = make(
        request_text="Refund **80 €** <b>?",
        context={"order": {"number": 4821, "<i>": "x" * 400}, "vip": True},
        response_config={"options": ["yes", "no"]},
        default_response="no",
    )
    newer = replace(
        older,
        owner,
        request_text="Refund **40 €** <b>?",
        context={"order": {"number": 4822}, "vip": True, "note": None},
        response_config={"options": ["yes", {"value": "no", "label": "Never"}]},
    )
    for person, page in zip((member, owner), PAGES, strict=True):
        shown = signed_in(person).get(page.format(newer.pk))
        said = words(shown)
        assert "What was removed is struck through, what was added is underlined." in said
        assert "Refund ** [removed: 80 ] [added: 40 ] €** <b>?" in said
        for row in (
            "order.number [removed: 4821 ] → [added: 4822 ]",
            f"order.<i> [removed: {'x' * 300}… ]",
            "note [added: none ]",
            "Options [removed: yes, no ] → [added: yes, Never ]",
            "If nobody answers in time [removed: no ] → [added: Never ]",
        ):
            assert row in said, said
        assert "vip [" not in said
        source = shown.content.decode()
        assert "<i>" not in source
        assert "<b>?" not in source


def find_changes(older: Request, newer: Request) -> dict[str, dict[str, str]]:
    """The changed values of each section, by their paths."""
    return {
        section.title: {path: re.sub("<[^>]*>", "", values) for path, values in section.rows}
        for section in versions.compare(older, newer).sections
    }


def test_a_proposed_action(make: Make, owner: User, member: User) -> None:
    """Its name, risk and arguments, whatever they are called and whatever hides in them."""
    arguments = {"order": "4821", "amount": 80, "Name": "x", "to": "ada@example.org"}
    proposal = {"name": "refund", "risk": "low", "arguments": arguments}
    older = make(
        response_type="approval",
        response_config={"proposal": proposal},
        default_response={"action": "reject"},
    )
    changed = {**arguments, "amount": 40, "to": "ada@example.org\u200b"}
    proposal = {"name": "refund_all", "risk": "high", "arguments": changed}
    newer = replace(older, owner, response_config={"proposal": proposal})
    newer = services.read_request(newer.pk)
    assert find_changes(older, newer) == {
        "Proposed action": {
            "Name": "[removed: refund] → [added: refund_all]",
            "Risk": "[removed: low] → [added: high]",
        },
        "Arguments": {
            "amount": "[removed: 80] → [added: 40]",
            "to": "[removed: ada@example.org] → [added: ada@example.org‹U+200B›]",
        },
    }
    assert "amount [removed: 80 ] → [added: 40 ]" in read(signed_in(member), newer)


def test_fields_of_a_form(make: Make) -> None:
    older, newer = make(), make()
    for each, longest in ((older, 10), (newer, 20)):
        schema = {"type": "object", "properties": {"name": {"maxLength": longest}}}
        each.response_type, each.response_config = "form", {"schema": schema}
        each.default_response = {}
    said = find_changes(older, newer)
    assert said == {"Fields": {"name.maxLength": "[removed: 10] → [added: 20]"}}


@pytest.mark.parametrize("odd", [[], "x", {"arguments": {}}, {"name": "refund"}, None])
def test_what_is_no_proposal(make: Make, odd: Any) -> None:
    """Other types may have anything of that name in their configuration."""
    older, newer = make(), make()
    older.response_config |= {"proposal": odd, "schema": odd}
    versions.compare(older, newer)


def test_nothing_has_changed(make: Make, owner: User, member: User) -> None:
    newer = replace(make(), owner)
    said = read(signed_in(member), newer)
    assert "Nothing in the question has changed since the previous version." in said


def test_texts_that_were_removed(make: Make, owner: User, member: User) -> None:
    older = make()
    newer = replace(older, owner, request_text="Another")
    Request.objects.filter(pk=older.pk).update(request_text="", texts_removed_at=older.now)
    said = read(signed_in(member), newer)
    assert "What has changed is no longer known: texts were removed." in said
    assert "[added:" not in said


def test_many_changes(make: Make, owner: User, member: User) -> None:
    older = make(context={str(number): 1 for number in range(60)})
    newer = replace(older, owner, context={str(number): 2 for number in range(60)})
    said = read(signed_in(member), newer)
    assert said.count("[added: 2 ]") == 30
    assert "Further changes are not shown." in said


def test_a_long_chain(
    make: Make, owner: User, member: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions, "_CHAIN", versions._CHAIN.replace("200", "2"))
    monkeypatch.setattr(versions, "MAX_STEPS", 2)
    chain = [make()]
    for _ in range(4):
        chain.append(replace(chain[-1], owner))
    assert "Version 3 of 5+" in read(signed_in(member), chain[2])
    assert "Version 1 of 3+" in read(signed_in(member), chain[0])


def test_statements(
    make: Make, owner: User, member: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    """One for the chain and one for the version before; none for a question alone."""
    alone = make()
    older = make()
    newer = replace(older, owner)
    browser = signed_in(member)
    for request in (alone, newer):
        browser.get(f"/inbox/{request.pk}/")
    with django_assert_num_queries(6) as alone_costs:
        browser.get(f"/inbox/{alone.pk}/")
    with django_assert_num_queries(len(alone_costs) + 2):
        browser.get(f"/inbox/{newer.pk}/")


def test_the_timeline(make: Make, owner: User) -> None:
    older = make()
    replace(older, owner)
    page: Any = signed_in(owner).get(f"/dashboard/requests/{older.pk}/")
    assert "Cancelled A newer version replaced it." in words(page)
