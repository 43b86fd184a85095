"""The question's page: who may see it, what it shows, claiming and giving back."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from db.ids import new_id
from loops.models import Loop
from loops.services import create_loop
from reviews import services
from reviews.models import Request
from reviews.retention import remove_requests
from reviews.services import delete_loop, remove_member
from tests.portal import attribute, controls, signed_in, words
from tests.reviews.conftest import Make, let_lease_run_out, make_overdue

pytestmark = pytest.mark.django_db
PAGES = ("", "done/")
ACTIONS = ("claim/", "renew/", "release/", "answer/")


def visit_all(browser: Client, request_id: str) -> list[Any]:
    """Every page and every action of the request, as one person meets them."""
    path = f"/inbox/{request_id}/"
    got = [browser.get(path + page) for page in PAGES]
    return got + [browser.post(path + action) for action in ACTIONS]


def frozen(request: Request) -> dict[str, Any]:
    """The row as it stands."""
    return dict(Request.objects.filter(pk=request.pk).values().get())


@pytest.mark.parametrize(
    ("path", "service"),
    [("answer", "answer_request"), ("claim", "claim_request"), ("release", "release_claim")],
)
def test_it_is_removed_meanwhile(
    make: Make, owner: User, member: User, path: str, service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = make(response_type="text", response_config={}, default_response="x")
    services.answer_request(request=request, reviewer_id=owner.pk, answer="faster")
    act = getattr(services, service)

    def act_late(**options: Any) -> Any:
        remove_requests(request.creator_id, [(request.pk, 0)])
        return act(**options)

    monkeypatch.setattr(services, service, act_late)
    page = signed_in(member).post(f"/inbox/{request.pk}/{path}/", {"answer": "Half a sentence"})
    assert page.status_code == 404
    assert "You can’t see this question" in words(page)
    assert "Half a sentence" in words(page)


def test_outsiders_find_nothing(
    owner: User, outsider: User, operator: User, loop: Loop, make: Make
) -> None:
    request = make()
    create_loop(owner_id=outsider.pk, name="Another account's", icon="x")
    before = frozen(request)
    for person in (outsider, operator):
        answers = [
            answer
            for request_id in (request.pk, new_id())
            for answer in visit_all(signed_in(person), request_id)
        ]
        assert {answer.status_code for answer in answers} == {404}
        assert len({answer.content for answer in answers}) == 1
        for request_id in ("x", "%00", "💥", "f" * 25):
            answers = visit_all(signed_in(person), request_id)
            assert {answer.status_code for answer in answers} == {404}
    assert frozen(request) == before


def test_a_removed_member_finds_nothing(member: User, loop: Loop, make: Make) -> None:
    answered, waiting = make(), make()
    services.answer_request(request=answered, reviewer_id=member.pk, answer="yes")
    remove_member(loop_id=loop.pk, account_id=loop.creator_id, member_id=member.pk)
    for request in (answered, waiting):
        answers = visit_all(signed_in(member), request.pk)
        assert {answer.status_code for answer in answers} == {404}


def test_with_its_loop_a_question_goes(owner: User, member: User, loop: Loop, make: Make) -> None:
    request = make()
    delete_loop(loop_id=loop.pk, account_id=loop.creator_id)
    for person in (owner, member):
        answers = visit_all(signed_in(person), request.pk)
        assert {answer.status_code for answer in answers} == {404}


def test_strangers_sign_in_first(make: Make) -> None:
    request = make()
    before = frozen(request)
    for answer in visit_all(Client(), request.pk):
        assert answer.status_code == 302
        assert answer["Location"].startswith(f"/accounts/login/?next=/inbox/{request.pk}/")
    assert frozen(request) == before


def test_no_get_changes_anything(member: User, make: Make) -> None:
    fresh, held = make(), make()
    services.claim_request(request=held, reviewer_id=member.pk)
    browser = signed_in(member)
    for request in (fresh, held):
        path, before = f"/inbox/{request.pk}/", frozen(request)
        assert browser.get(path).status_code == 200
        assert browser.head(path).status_code == 200
        for action in ACTIONS:
            assert browser.get(path + action)["Location"] == path
            assert browser.put(path + action).status_code == 405
        assert browser.post(path).status_code == 405
        assert frozen(request) == before


@pytest.mark.parametrize("action", ACTIONS)
def test_forms_of_other_sites_do_nothing(member: User, make: Make, action: str) -> None:
    request = make()
    before = frozen(request)
    browser = signed_in(member, enforce_csrf_checks=True)
    response = browser.post(f"/inbox/{request.pk}/{action}", {"answer": "yes"})
    assert response.status_code == 403
    assert "This page has expired" in words(response)
    assert frozen(request) == before


def test_what_the_page_says(member: User, make: Make) -> None:
    request = make(
        request_text="Refund <b>it</b>?\n\nThe seal\nwas torn.",
        context={"order": {"no": 4821, "items": ["<i>cup", "saucer"]}, "vip": True, "note": None},
        response_config={"options": [{"value": "n", "label": "Not at all"}, "yes"]},
        default_response="n",
    )
    response = signed_in(member).get(f"/inbox/{request.pk}/")
    source, page = response.content.decode(), words(response)
    assert "<p>Refund &lt;b&gt;it&lt;/b&gt;?</p>\n<p>The seal<br>\nwas torn.</p>" in source
    assert "Refund desk 1 of 1" in page
    assert re.search(r"High 9 min left asked .{1,20} by Owner", page)
    assert f'data-left="{request.timeout_at:%s}"' in source
    context = "order: 2 fields no: 4821 items: 2 entries 1. <i>cup 2. saucer vip: yes note: none"
    assert f"Context (3 fields) {context}" in page
    assert "<i>" not in source
    assert "If nobody answers in time: Not at all" in page
    assert '<html lang="en" dir="ltr">' in source
    assert '<a class="skip" href="#main">' in source


def test_an_image_and_no_other_page_may_come_from_elsewhere(member: User, make: Make) -> None:
    url = 'https://pictures.example/a.png?x=1&y="><script>'
    request = make(type="image", image_url=url)
    browser = signed_in(member)
    shown = browser.get(f"/inbox/{request.pk}/")
    source = shown.content.decode()
    escaped = "https://pictures.example/a.png?x=1&amp;y=&quot;&gt;&lt;script&gt;"
    assert re.search(f'<img src="{re.escape(escaped)}"[^>]* referrerpolicy="no-referrer"', source)
    refused = browser.post(f"/inbox/{request.pk}/answer/", {"answer": "neither"})
    for answer in (shown, refused):
        assert "img-src 'self' data: https: http:;" in answer["Content-Security-Policy"] + ";"
    plain = f"/inbox/{make(request_text='![Harbour](https://pictures.example/b.png)').pk}/"
    others = [browser.get(path) for path in (plain, "/inbox/", "/accounts/email/", "/join/")]
    others += [
        browser.post(f"{plain}answer/", {"answer": "neither"}),
        browser.post(f"{plain}claim/", follow=True),
        browser.get(f"/inbox/{'0' * 24}/"),
    ]
    for answer in others:
        assert "img-src 'self' data:;" in answer["Content-Security-Policy"] + ";"
        assert "http" not in answer["Content-Security-Policy"]
        assert "unsafe" not in answer["Content-Security-Policy"]


def test_claim_hold_and_give_back(owner: User, member: User, make: Make) -> None:
    request = make()
    path = f"/inbox/{request.pk}/"
    mine, other = signed_in(member), signed_in(owner)
    assert "I’m on it" in words(mine.get(path))
    response = mine.post(path + "claim/", follow=True)
    assert response.redirect_chain == [(path, 303)]
    assert "You’re on it until" in words(response)
    assert len(controls(response)) == 2

    seen = other.get(path)
    assert "Member is on it until" in words(seen)
    assert controls(seen) == []
    assert "I’m on it" not in words(seen)
    lost = other.post(path + "claim/", follow=True)
    assert "Too late: this question has changed" in words(lost)

    until = services.read_request(request.pk).claim_expires_at
    mine.post(path + "claim/")
    renewed = services.read_request(request.pk).claim_expires_at
    assert until is not None
    assert renewed is not None
    assert renewed > until

    assert "I’m on it" in words(mine.post(path + "release/", follow=True))
    assert services.read_request(request.pk).status == "pending"
    assert "You’re no longer on it" in words(mine.post(path + "release/", follow=True))


def test_a_lapsed_claim_is_free_again(owner: User, member: User, make: Make) -> None:
    request = make()
    services.claim_request(request=request, reviewer_id=owner.pk)
    let_lease_run_out(request)
    response = signed_in(member).get(f"/inbox/{request.pk}/")
    assert "I’m on it" in words(response)
    assert len(controls(response)) == 2


def time_out(request: Request, owner: User) -> None:
    make_overdue(request)


def cancel(request: Request, owner: User) -> None:
    services.cancel_request(request_id=request.pk, account_id=owner.pk)


def answer_it(request: Request, owner: User) -> None:
    services.answer_request(request=request, reviewer_id=owner.pk, answer="yes")


@pytest.mark.parametrize(
    ("end", "told"),
    [
        (time_out, "Time’s up"),
        (cancel, "This question was cancelled"),
        (answer_it, "Owner answered this question"),
    ],
)
def test_after_the_end_the_page_says_what_became_of_it(
    owner: User, member: User, make: Make, end: Callable[[Request, User], None], told: str
) -> None:
    request = make()
    end(request, owner)
    browser, path = signed_in(member), f"/inbox/{request.pk}/"
    seen = browser.get(path)
    assert (seen.status_code, controls(seen)) == (200, [])
    assert told in words(seen)
    ended = frozen(request)
    late = browser.post(path + "answer/", {"answer": "no"})
    assert late.status_code == 409
    assert told in words(late)
    assert "Your unsent answer It wasn’t sent." in words(late)
    for action in ("claim/", "release/"):
        assert told in words(browser.post(path + action, follow=True))
    assert frozen(request) == ended


def test_statements(
    member: User, make: Make, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    request, following = make(), make(priority="low")
    browser = signed_in(member)
    # session, person, request, that it was opened, what waits, the list beside
    with django_assert_num_queries(6):
        browser.get(f"/inbox/{request.pk}/")
    with django_assert_num_queries(12):
        # and the transition: membership, row, answer, update, names, log
        response = browser.post(f"/inbox/{request.pk}/answer/", {"answer": "yes"})
    assert following.pk in response["Location"]
    with django_assert_num_queries(7):  # and what was sent
        browser.get(response["Location"])
    with django_assert_num_queries(4):
        browser.get(f"/inbox/{request.pk}/done/")


def test_what_is_gone_says_so_and_keeps_the_draft(member: User, loop: Loop, make: Make) -> None:
    request = make()
    remove_member(loop_id=loop.pk, account_id=loop.creator_id, member_id=member.pk)
    response = signed_in(member).post(f"/inbox/{request.pk}/answer/", {"answer": "My <draft>"})
    assert response.status_code == 404
    assert "or you’ve left the loop" in words(response)
    assert "Your unsent answer It wasn’t sent." in words(response)
    assert "My &lt;draft&gt;" in response.content.decode()


def test_an_answer_outlives_the_session(member: User, make: Make) -> None:
    request = make(response_type="text", response_config={}, default_response="x")
    path, browser = f"/inbox/{request.pk}/", Client()
    typed = {"answer": "Two lines,\nlong thought about", "person": member.pk}
    response = browser.post(path + "answer/", typed)
    assert response["Location"] == f"/accounts/login/?next={path}"
    browser.force_login(member)
    page = browser.get(path)
    assert attribute(page, 'name="person" value') == member.pk
    assert "Your answer was saved while you signed in. It hasn’t been sent yet." in words(page)
    assert "Two lines,\nlong thought about</textarea>" in page.content.decode()
    assert services.read_request(request.pk).status == "pending"
    browser.post(path + "answer/", {"answer": "sent"})
    assert "unsent_answers" not in browser.session or not browser.session["unsent_answers"]


def test_somebody_else_on_the_device_does_not_see_an_answer(
    owner: User, member: User, make: Make
) -> None:
    request, browser = make(), Client()
    path = f"/inbox/{request.pk}/"
    browser.post(path + "answer/", {"comment": "Private words", "person": member.pk})
    browser.force_login(owner)
    for status in ("pending", "cancelled"):
        assert services.read_request(request.pk).status == status
        assert "Private words" not in browser.get(path).content.decode()
        if status == "pending":
            cancel(request, owner)


def test_no_more_is_kept_than_an_answer_can_have(make: Make) -> None:
    browser, requests = Client(), [make() for _ in range(4)]
    browser.post(f"/inbox/{requests[0].pk}/answer/", {"answer": "x" * 26_000})
    assert "unsent_answers" not in browser.session
    for request in requests:
        browser.post(f"/inbox/{request.pk}/answer/", {"answer": "yes"})
    assert list(browser.session["unsent_answers"]) == [each.pk for each in requests[1:]]


def test_the_open_page_holds_on_and_lets_go(owner: User, member: User, make: Make) -> None:
    request = make()
    path, browser = f"/inbox/{request.pk}/", signed_in(member)
    assert browser.post(path + "renew/").status_code == 409
    browser.post(path + "claim/")
    until = services.read_request(request.pk).claim_expires_at
    assert browser.post(path + "renew/").status_code == 204
    renewed = services.read_request(request.pk).claim_expires_at
    assert until is not None
    assert renewed is not None
    assert renewed > until
    assert signed_in(owner).post(path + "renew/").status_code == 409
    assert browser.post(path + "release/", known_by(browser, path)).status_code == 204
    left = services.read_request(request.pk)
    assert left.status == "claimed"
    assert left.claim_expires_at is not None
    assert left.claim_expires_at - left.now <= timedelta(seconds=5)
    assert browser.post(path + "renew/").status_code == 204  # it was only loaded anew
    again = services.read_request(request.pk).claim_expires_at
    assert again is not None
    assert again > renewed
    known = known_by(browser, path)
    let_lease_run_out(request)
    assert browser.post(path + "release/", known).status_code == 204
    assert services.read_request(request.pk).status == "pending"


def known_by(browser: Client, path: str) -> dict[str, str]:
    """What the page says as it is left."""
    return {"leaving": attribute(browser.get(path), "data-until")}


def test_a_page_lets_go_of_the_lease_that_it_knew_alone(member: User, make: Make) -> None:
    request = make()
    path, browser = f"/inbox/{request.pk}/", signed_in(member)
    browser.post(path + "claim/")
    before = known_by(browser, path)
    renewed = {"leaving": browser.post(path + "renew/")["X-Lease"]}  # by the page after it
    assert known_by(browser, path) == renewed
    held = frozen(request)
    for told in (before, {"leaving": ""}, {"leaving": "yes"}):
        assert browser.post(path + "release/", told).status_code == 204
        assert frozen(request) == held
    browser.post(path + "release/", renewed)
    assert frozen(request)["claim_expires_at"] < held["claim_expires_at"]


def test_a_lease_renewed_since_it_was_read_stays(member: User, make: Make) -> None:
    request = make()
    services.claim_request(request=request, reviewer_id=member.pk)
    read = services.read_request(request.pk)
    until = services.renew_claim(request=request, reviewer_id=member.pk)
    services.leave_claim(request=read, reviewer_id=member.pk)
    assert services.read_request(request.pk).claim_expires_at == until


def test_whoever_leaves_lets_go_of_nobody_elses_claim(
    owner: User, member: User, make: Make
) -> None:
    request = make()
    services.claim_request(request=request, reviewer_id=owner.pk)
    until = services.read_request(request.pk).claim_expires_at
    known = known_by(signed_in(owner), f"/inbox/{request.pk}/")
    signed_in(member).post(f"/inbox/{request.pk}/release/", known)
    assert services.read_request(request.pk).claim_expires_at == until


def test_a_text_that_is_no_markdown_is_shown_as_it_is(member: User, make: Make) -> None:
    request = make(request_text="[1]: https://example.com/<b>")
    assert "[1]: https://example.com/&lt;b&gt;" in (
        signed_in(member).get(f"/inbox/{request.pk}/").content.decode()
    )


class TestTheOfferOfNotifications:
    """Asked for only after the first answer: ui.md, behaviour 7."""

    def offers(self, browser: Client, path: str) -> bool:
        return "data-push" in browser.get(path).content.decode()

    @pytest.fixture(autouse=True)
    def _push_is_on(self, push_key: str) -> None: ...

    def test_it_stands_once_after_the_first_answer(self, member: User, make: Make) -> None:
        browser = signed_in(member)
        requests = [make(priority=each) for each in ("critical", "high", "medium", "low")]
        path = f"/inbox/{requests[0].pk}/"
        assert not self.offers(browser, path)
        seen = []
        for _ in requests:
            path = browser.post(
                f"{path.partition('?')[0]}answer/?{path.partition('?')[2]}", {"answer": "yes"}
            )["Location"]
            seen.append(self.offers(browser, path))
        assert seen == [True, False, False, True]  # the last is the end of the sitting

    def test_an_address_alone_brings_it_about_for_nobody(self, member: User, make: Make) -> None:
        waiting, other = make(), make()
        for said in ("n=1", f"n=1&sent={other.pk}"):
            assert not self.offers(signed_in(member), f"/inbox/{waiting.pk}/?{said}")
