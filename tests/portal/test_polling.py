"""The polls of open pages."""

import time
from typing import Any
from unittest.mock import ANY

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from loops.models import Loop
from loops.services import create_loop, join_loop
from portal import polling
from reviews import services
from reviews.models import Request
from reviews.policy import Policy
from tests.portal import attribute, signed_in
from tests.reviews.conftest import FIELDS, Make, acting, let_lease_run_out, make_overdue

pytestmark = pytest.mark.django_db


class Open:
    """A page that is open in somebody's browser."""

    def __init__(self, user: User, path: str = "/inbox/") -> None:
        self.browser = signed_in(user)
        page = self.browser.get(path)
        self.state = attribute(page, "data-inbox") or attribute(page, "data-state")
        self.token = attribute(page, "data-watch")
        self.version = attribute(page, "data-version")
        self.query = {"since": attribute(page, "data-since"), "loop": attribute(page, "data-loop")}

    def ask(self) -> Any:
        query = {**self.query, "v": self.version}
        return self.browser.get(self.state, query, headers={"X-Watch": self.token})

    def news(self) -> Any:
        """What has changed; None for nothing."""
        answer = self.ask()
        if answer.status_code == 204:
            return None
        told = answer.json()
        self.version = told["version"]
        return told


def test_nothing_new_is_204(member: User, make: Make) -> None:
    make()
    inbox = Open(member)
    for _ in range(2):
        answer = inbox.ask()
        assert (answer.status_code, answer.content) == (204, b"")


def test_the_inbox_hears_of_everything(owner: User, member: User, make: Make) -> None:
    old = make()
    inbox = Open(member)
    Request.objects.update(created_at="2026-01-01T00:00:00Z")
    new = make(priority="low")
    assert inbox.news() == {"version": ANY, "new": 1, "rows": {old.pk: "", new.pk: ""}}
    services.claim_request(request=old, reviewer_id=owner.pk)
    assert inbox.news()["rows"] == {old.pk: "Owner", new.pk: ""}
    services.claim_request(request=new, reviewer_id=member.pk)
    assert inbox.news()["rows"] == {old.pk: "Owner", new.pk: "you"}
    let_lease_run_out(old)
    assert inbox.news()["rows"] == {old.pk: "", new.pk: "you"}
    services.answer_request(request=old, reviewer_id=owner.pk, answer="yes")
    assert inbox.news()["rows"] == {new.pk: "you"}
    make_overdue(new)
    assert inbox.news()["rows"] == {}
    assert inbox.news() is None


def test_a_renewed_claim_is_no_news(member: User, make: Make) -> None:
    request = make()
    services.claim_request(request=request, reviewer_id=member.pk)
    inbox = Open(member)
    services.renew_claim(request=request, reviewer_id=member.pk)
    assert inbox.news() is None


def test_what_waits_far_down_is_news_all_the_same(member: User, make: Make) -> None:
    first = make(priority="critical")
    for _ in range(polling.MAX_ROWS):
        make()
    inbox = Open(member)
    last = make(priority="low")
    told = inbox.news()
    assert (told["new"], len(told["rows"])) == (1, polling.MAX_ROWS)
    assert first.pk in told["rows"]
    assert last.pk not in told["rows"]
    inbox.query["since"] = "0"
    services.claim_request(request=first, reviewer_id=member.pk)
    assert inbox.news()["new"] == polling.MAX_ROWS


def test_one_loop_alone(owner: User, member: User, make: Make) -> None:
    other = create_loop(owner_id=owner.pk, name="Legal", icon="x")
    join_loop(user=member, code=other.invite_code)
    inbox = Open(member, f"/inbox/?loop={other.pk}")
    make()
    assert inbox.news() is None
    services.create_request(loop_id=other.pk, account=acting(owner), fields=FIELDS)
    assert len(inbox.news()["rows"]) == 1


def test_the_question_hears_who_was_faster(owner: User, member: User, make: Make) -> None:
    request = make()
    open_page = Open(member, f"/inbox/{request.pk}/")
    assert open_page.ask().status_code == 204
    services.claim_request(request=request, reviewer_id=owner.pk)
    assert open_page.ask().status_code == 200
    open_page = Open(member, f"/inbox/{request.pk}/")
    services.renew_claim(request=request, reviewer_id=owner.pk)
    assert open_page.ask().status_code == 204
    let_lease_run_out(request)
    assert open_page.ask().status_code == 200
    open_page = Open(member, f"/inbox/{request.pk}/")
    make_overdue(request)
    assert open_page.ask().status_code == 200


def test_with_the_membership_it_ends(member: User, loop: Loop, make: Make) -> None:
    request = make()
    inbox, question = Open(member), Open(member, f"/inbox/{request.pk}/")
    services.remove_member(loop_id=loop.pk, account_id=loop.creator_id, member_id=member.pk)
    assert inbox.news()["rows"] == {}
    assert question.ask().status_code == 404
    make()
    assert inbox.news() is None


def test_outsiders_learn_nothing(outsider: User, make: Make) -> None:
    request = make()
    inbox = Open(outsider)
    path = f"/inbox/{request.pk}/state/"
    assert inbox.browser.get(path, headers={"X-Watch": inbox.token}).status_code == 404
    assert inbox.browser.get("/inbox/x/state/", headers={"X-Watch": inbox.token}).status_code == 404
    make()
    assert inbox.news() is None


def test_an_account_that_is_switched_off_sees_nothing(member: User, make: Make) -> None:
    make()
    inbox = Open(member)
    User.objects.filter(pk=member.pk).update(is_active=False)
    assert inbox.news()["rows"] == {}


def test_a_token_belongs_to_its_session_and_runs_out(
    member: User, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    make()
    inbox = Open(member)
    for browser in (Client(), signed_in(member)):
        assert browser.get(inbox.state, headers={"X-Watch": inbox.token}).status_code == 403
    for token in ("", "x", inbox.token[:-1], inbox.token + "é"):
        inbox.token, good = token, inbox.token
        assert inbox.ask().status_code == 403
        inbox.token = good
    later = time.time() + polling.TOKEN_LIFETIME + 1
    monkeypatch.setattr(time, "time", lambda: later)
    assert inbox.ask().status_code == 403


def test_a_session_that_was_ended_hears_nothing(member: User, make: Make) -> None:
    inbox = Open(member)
    make()
    cookies = inbox.browser.cookies.output(attrs=[], header="", sep=";").strip()
    inbox.browser.post("/accounts/logout/")
    copied = Client(headers={"Cookie": cookies, "X-Watch": inbox.token})
    assert copied.get(inbox.state, {**inbox.query, "v": inbox.version}).status_code == 403
    assert inbox.ask().status_code == 403


@pytest.mark.parametrize("blind", [True, False])
def test_the_question_of_several_hears_of_a_replaced_answer(
    owner: User, member: User, make: Make, blind: bool
) -> None:
    """Where the policy is blind nobody learns that somebody has another opinion now."""
    request = make(policy=Policy("unanimous", 2, blind=blind).store())
    unanswered = Open(owner, f"/inbox/{request.pk}/")
    services.answer_request(request=request, reviewer_id=member.pk, answer="no")
    assert unanswered.ask().status_code == 200
    question = Open(owner, f"/inbox/{request.pk}/")
    assert question.ask().status_code == 204
    services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    assert question.ask().status_code == (204 if blind else 200)
    assert Open(owner, f"/inbox/{request.pk}/").ask().status_code == 204


def test_nor_does_a_question_that_is_open_still(owner: User, member: User, make: Make) -> None:
    request = make()
    question = Open(member, f"/inbox/{request.pk}/")
    services.claim_request(request=request, reviewer_id=owner.pk)
    assert question.ask().status_code == 200
    Session.objects.all().delete()
    assert question.ask().status_code == 403


def test_an_urgent_claim_is_heard_among_a_hundred(owner: User, member: User, make: Make) -> None:
    urgent = make(priority="critical")
    for _ in range(polling.MAX_ROWS):
        services.claim_request(request=make(), reviewer_id=owner.pk)
    inbox = Open(member)
    services.claim_request(request=urgent, reviewer_id=owner.pk)
    assert inbox.news()["rows"][urgent.pk] == "Owner"


def test_new_questions_are_counted_by_the_clock_of_the_database(
    member: User, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead = time.time() + 3600
    with monkeypatch.context() as patch:
        patch.setattr(time, "time", lambda: ahead)
        inbox = Open(member)
    make()
    assert inbox.news()["new"] == 1


@pytest.mark.parametrize("since", ["", "x", "nan", "-1", "1e400", "9" * 40])
def test_an_odd_moment_counts_as_now(member: User, make: Make, since: str) -> None:
    make()
    inbox = Open(member)
    inbox.query["since"], inbox.version = since, "other"
    assert inbox.news()["new"] == 0


def test_one_statement(
    member: User, make: Make, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    request = make()
    inbox, question = Open(member), Open(member, f"/inbox/{request.pk}/")
    with django_assert_num_queries(1):
        inbox.ask()
    with django_assert_num_queries(1):
        question.ask()


def test_only_get(member: User) -> None:
    inbox = Open(member)
    assert inbox.browser.post(inbox.state).status_code == 405
    assert inbox.ask()["Cache-Control"] == "no-store"


def test_it_tells_nobody_but_its_own_site(member: User, make: Make) -> None:
    """It is answered before the middleware that sees to this elsewhere."""
    request = make()
    inbox, question = Open(member), Open(member, f"/inbox/{request.pk}/")
    inbox.version = "other"
    answers = [inbox.ask(), question.ask(), inbox.browser.post(inbox.state)]
    assert [each.status_code for each in answers] == [200, 204, 405]
    for answer in answers:
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Referrer-Policy"] == "same-origin"
        assert answer["Cache-Control"] == "no-store"


def test_another_host_is_refused(
    member: User, make: Make, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    request = make()
    for page in (Open(member), Open(member, f"/inbox/{request.pk}/")):
        headers = {"X-Watch": page.token, "Host": "evil.example"}
        with django_assert_num_queries(0):
            response = page.browser.get(page.state, headers=headers)
        assert (response.status_code, response.content) == (400, b"")
        assert response["X-Content-Type-Options"] == "nosniff"
