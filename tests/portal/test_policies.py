"""The question of several people, on the reviewers' pages."""

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from loops.models import Loop
from loops.services import join_loop
from reviews import services
from reviews.models import Request
from reviews.policy import Policy
from reviews.queries.open_questions import read_waiting
from tests.conftest import account
from tests.portal import signed_in, words
from tests.reviews.conftest import Make

pytestmark = pytest.mark.django_db

TWO = Policy("unanimous", 2).store()


@pytest.fixture
def third(loop: Loop) -> User:
    person = account("third")
    join_loop(user=person, code=loop.invite_code)
    return person


def page(user: User, request: Request) -> str:
    return words(signed_in(user).get(f"/inbox/{request.pk}/"))


def offers_claim(user: User, request: Request) -> bool:
    return "/claim/" in signed_in(user).get(f"/inbox/{request.pk}/").content.decode()


def post(user: User, request: Request, value: str) -> int:
    answer = {"answer": value}
    return signed_in(user).post(f"/inbox/{request.pk}/answer/", answer).status_code


def test_from_the_first_answer_to_the_outcome(
    owner: User, member: User, third: User, make: Make
) -> None:
    request = make(policy=TWO)
    assert "2 people have to give the same answer. 0 of 2 have answered." in page(member, request)
    assert not offers_claim(member, request)
    assert post(member, request, "no") == 303
    assert "1 of 2 has answered. You answered: no You can send another answer" in page(
        member, request
    )
    assert "You answered" not in page(owner, request)
    assert post(member, request, "yes") == 303
    assert post(owner, request, "yes") == 303
    shown = page(third, request)
    assert "This question is decided" in shown
    assert "Their answers have decided. Member, just now yes Owner, just now yes" in shown


def test_a_dissent(owner: User, member: User, make: Make) -> None:
    request = make(policy=TWO)
    assert post(member, request, "yes") == 303
    assert post(owner, request, "no") == 303
    shown = page(member, request)
    assert "This question ended without an answer" in shown
    assert "They did not agree, so the default answer was used." in shown
    done = words(signed_in(member).get(f"/inbox/{request.pk}/done/"))
    assert "yes" in done


def test_who_is_not_asked(owner: User, member: User, make: Make) -> None:
    request = make(policy=Policy("first", 1, exclude_creator=True).store())
    assert offers_claim(member, request)
    shown = page(owner, request)
    assert "Others are asked. You can’t answer this question." in shown
    assert not offers_claim(owner, request)
    assert post(owner, request, "yes") == 404
    assert signed_in(owner).post(f"/inbox/{request.pk}/claim/").status_code == 404
    assert post(member, request, "yes") == 303


def test_the_inbox_lists_what_is_open_for_the_person(
    owner: User, member: User, third: User, make: Make,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:  # fmt: skip
    everybodys = make()
    several = make(policy=TWO)
    others = make(policy=Policy("first", 1, exclude_creator=True).store())
    assert set(read_waiting(owner.pk, 9).ids) == {everybodys.pk, several.pk}
    assert read_waiting(member.pk, 9).total == 3
    post(member, several, "yes")
    waiting = read_waiting(member.pk, 9)
    assert (set(waiting.ids), waiting.total) == ({everybodys.pk, others.pk}, 2)
    assert read_waiting(third.pk, 9).total == 3
    inbox = signed_in(member).get("/inbox/")
    assert len(inbox.context["rows"]) == inbox.context["page"].paginator.count == 2
    browser = signed_in(member)
    with django_assert_num_queries(6):
        browser.get("/inbox/")


def test_who_leaves_ends_what_needs_them(owner: User, member: User, loop: Loop, make: Make) -> None:
    request = make(policy=TWO)
    services.remove_member(loop_id=loop.pk, account_id=owner.pk, member_id=member.pk)
    shown = page(owner, request)
    assert "Too few people were left to answer, so the default answer was used." in shown


def test_the_creator_sees_them_in_the_dashboard_when_it_has_ended(
    owner: User, member: User, make: Make
) -> None:
    request = make(policy=TWO)
    post(member, request, "yes")
    path = f"/dashboard/requests/{request.pk}/"
    open_page = words(signed_in(owner).get(path))
    assert "2 people have to give the same answer. 1 of 2 has answered." in open_page
    assert "Answered by" not in open_page
    post(owner, request, "no")
    ended = words(signed_in(owner).get(path))
    assert "They did not agree" in ended
    assert "Member, just now yes Owner, just now no" in ended
    assert "Ended without agreement" in ended


def test_nobody_learns_who_has_answered_before_the_end(
    owner: User, member: User, loop: Loop, make: Make
) -> None:
    request = make(policy=TWO)
    browser = signed_in(owner)
    pages = (
        f"/dashboard/loops/{loop.pk}/",
        "/dashboard/requests/?person=mem",
        f"/dashboard/requests/{request.pk}/",
    )
    post(member, request, "yes")
    after = [words(browser.get(path)) for path in pages]
    assert "0 – – Remove" in after[0]
    assert "Should we refund" not in after[1]
    assert "1 of 2 has answered" in after[2]
    assert '"answers": [' not in after[2]
    post(owner, request, "yes")
    assert "0 – – Remove" not in words(browser.get(pages[0]))
    assert "Should we refund" in words(browser.get(pages[1]))
