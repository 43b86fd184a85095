"""The comment beside an answer: optional, required by the loop's rule, never lost."""

import re
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from loops.models import Loop
from reviews import services
from reviews.models import Request
from reviews.services import remove_member
from tests.portal import attribute, signed_in, words
from tests.reviews.conftest import Make

pytestmark = pytest.mark.django_db
OPTIONS = {"options": [{"value": "n", "label": "Decline"}, "yes", "Later"]}


@pytest.fixture
def strict(loop: Loop) -> Loop:
    """Demands a comment for two options, by a label and by a value in another case."""
    loop.comment_required_for = ["decline", "LATER", "never offered"]
    loop.save()
    return loop


def comment_field(response: Any) -> str:
    found = re.search(r'<details class="comment".*?</details>', response.content.decode(), re.S)
    return found[0] if found else ""


def send(person: User, request: Request, **fields: Any) -> Any:
    return signed_in(person).post(f"/inbox/{request.pk}/answer/", fields)


def stored(request: Request) -> tuple[str, str | None]:
    row = services.read_request(request.pk)
    return row.status, row.response_comment


def test_it_is_stored_and_shown(member: User, owner: User, make: Make) -> None:
    request = make()
    browser = signed_in(member)
    path = f"/inbox/{request.pk}/"
    field = comment_field(browser.get(path))
    assert "(optional)" in field
    assert 'form="answer-form"' in field
    assert " open" not in field.split(">")[0]
    written = "Look:\r\n<script>alert(1)</script> ‮ & done"
    assert send(member, request, answer="yes", comment=written).status_code == 303
    assert stored(request) == ("completed", written.replace("\r\n", "\n"))
    shown = "Look:\n&lt;script&gt;alert(1)&lt;/script&gt; ‮ &amp; done"
    for person, page in (
        (member, path), (member, f"{path}done/"), (member, "/my-work/"), (owner, path),
        (owner, f"/dashboard/requests/{request.pk}/"),
    ):  # fmt: skip
        source = signed_in(person).get(page).content.decode()
        assert f'<q dir="auto">{shown}</q>' in source, page
        assert "<script>alert" not in source


def test_the_timeline_quotes_it(member: User, owner: User, make: Make) -> None:
    request = make()
    services.answer_request(
        request=request, reviewer_id=member.pk, answer="yes", comment="because " * 100
    )
    source = signed_in(owner).get(f"/dashboard/requests/{request.pk}/").content.decode()
    (timeline,) = re.findall(r'<ol class="timeline">.*?</ol>', source, re.S)
    assert re.search(r'<q dir="auto">(because )+.{0,8}…</q>', timeline)


@pytest.mark.parametrize("comment", ["", "  \r\n\t"])
def test_a_blank_one_is_none(member: User, owner: User, make: Make, comment: str) -> None:
    request = make()
    send(member, request, answer="yes", comment=comment)
    assert stored(request) == ("completed", None)
    for page in (f"/inbox/{request.pk}/", "/my-work/"):
        assert "comment-given" not in signed_in(member).get(page).content.decode()


def test_its_length(member: User, make: Make) -> None:
    request = make()
    longest = "😀\r\n" * 1000
    response = send(member, request, answer="yes", comment=longest + "x")
    assert response.status_code == 422
    assert "The comment must have at most 2,000 characters" in words(response)
    assert "😀\r\nx</textarea>" in response.content.decode()
    assert 'value="yes"' in response.content.decode()
    assert send(member, request, answer="yes", comment=longest).status_code == 303
    assert stored(request) == ("completed", "😀\n" * 1000)


def test_what_cannot_be_stored(member: User, make: Make) -> None:
    request = make()
    response = send(member, request, answer="yes", comment="a\0b")
    assert response.status_code == 422
    assert "The comment contains a character that cannot be stored" in words(response)
    assert stored(request) == ("pending", None)


@pytest.mark.parametrize(("answer", "label"), [("n", "Decline"), ("Later", "Later")])
def test_a_loop_may_require_it(
    strict: Loop, member: User, make: Make, answer: str, label: str
) -> None:
    request = make(response_config=OPTIONS, default_response="yes")
    page = signed_in(member).get(f"/inbox/{request.pk}/")
    assert "(required for “Decline” or “Later”)" in words(page)
    assert attribute(page, "data-demanding") == '["n", "Later"]'
    refused = send(member, request, answer=answer, comment=" ")
    assert refused.status_code == 422
    assert f"Add a comment. It’s required for “{label}”" in words(refused)
    field = comment_field(refused)
    assert " open" in field.split(">")[0]
    assert 'aria-invalid="true" autofocus' in field
    assert stored(request) == ("pending", None)
    assert send(member, request, answer=answer, comment="Broken").status_code == 303
    assert stored(request) == ("completed", "Broken")


def test_other_options_and_types_need_none(strict: Loop, member: User, make: Make) -> None:
    free = make(response_config=OPTIONS, default_response="yes")
    assert send(member, free, answer="yes").status_code == 303
    text = make(response_type="text", response_config={}, default_response="")
    assert "(optional)" in words(signed_in(member).get(f"/inbox/{text.pk}/"))
    assert send(member, text, answer="decline").status_code == 303


def test_one_of_several_options_needs_it(strict: Loop, member: User, make: Make) -> None:
    many = make(response_type="multi_select", response_config=OPTIONS, default_response="yes")
    refused = send(member, many, answer=["yes", "n"])
    assert "Add a comment. It’s required for “Decline”" in words(refused)
    assert send(member, many, answer=["yes"]).status_code == 303


def test_an_invalid_answer_keeps_it(member: User, make: Make) -> None:
    request = make()
    response = send(member, request, comment="Keep <me>")
    assert response.status_code == 422
    assert "Keep &lt;me&gt;</textarea>" in comment_field(response)


def test_it_outlives_the_session_and_a_lost_race(owner: User, member: User, make: Make) -> None:
    request = make()
    path, browser = f"/inbox/{request.pk}/", Client()
    browser.post(f"{path}answer/", {"comment": "While signed out", "person": member.pk})
    browser.force_login(member)
    page = browser.get(path)
    assert "Your answer was saved while you signed in" in words(page)
    assert "While signed out</textarea>" in comment_field(page)
    services.answer_request(request=request, reviewer_id=owner.pk, answer="no")
    lost = browser.post(f"{path}answer/", {"answer": "yes", "comment": "Too <late>"})
    assert lost.status_code == 409
    assert "yes\n\nToo &lt;late&gt;</code>" in lost.content.decode()


def test_who_left_the_loop_can_copy_it(member: User, loop: Loop, make: Make) -> None:
    request = make()
    remove_member(loop_id=loop.pk, account_id=loop.creator_id, member_id=member.pk)
    response = send(member, request, answer="yes", comment="Mine")
    assert response.status_code == 404
    assert "yes\n\nMine</code>" in response.content.decode()


def test_the_same_answer_again_needs_the_same_comment(member: User, make: Make) -> None:
    request = make()
    for _ in range(2):
        assert send(member, request, answer="yes", comment="Fine").status_code == 303
    other = send(member, request, answer="yes", comment="Changed")
    assert other.status_code == 409
    assert "You answered this question" in words(other)
    assert "Changed</code>" in other.content.decode()
    assert stored(request) == ("completed", "Fine")


def test_statements(
    strict: Loop, member: User, make: Make, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    """The rule comes with the request."""
    request = make(response_config=OPTIONS, default_response="yes")
    browser = signed_in(member)
    # session, person, request, that it was opened, what waits, the list beside
    with django_assert_num_queries(6):
        browser.get(f"/inbox/{request.pk}/")
    with django_assert_num_queries(12):
        # and the transition: membership, row, answer, update, names, log
        browser.post(f"/inbox/{request.pk}/answer/", {"answer": "n", "comment": "No"})
