"""Approvals in the dashboard: what was decided, in words, wherever it is shown."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from pytest_django import Settings

from accounts.models import User
from loops.models import Loop
from reviews import services, tasks
from reviews.models import Request
from reviews.policy import Policy
from tests.portal import signed_in, words
from tests.reviews.conftest import Make, make_overdue

pytestmark = pytest.mark.django_db

ARGUMENTS = {"order": 4821, "amount": 129.5, "body": "Dear Ada, " * 100}
FIELDS: dict[str, Any] = {
    "response_type": "approval",
    "response_config": {
        "proposal": {"name": "issue_refund", "arguments": ARGUMENTS, "risk": "high"},
        "actions": ["approve", "edit", "reject", "respond"],
    },
    "default_response": {"action": "reject", "message": "Nobody looked."},
}
LIST = "/dashboard/requests/"


@pytest.mark.parametrize(
    ("decision", "said"),
    [
        ({"action": "approve"}, "Approved"),
        (
            {"action": "edit", "arguments": {**ARGUMENTS, "amount": 99}},
            "Approved with changes: amount",
        ),
        ({"action": "reject"}, "Rejected"),
        ({"action": "reject", "message": "Too much."}, "Rejected: Too much."),
        ({"action": "respond", "message": "Which?"}, "Replied: Which?"),
    ],
)
def test_decisions_in_words(
    owner: User, member: User, make: Make, decision: dict[str, Any], said: str
) -> None:
    request = make(**FIELDS)
    services.answer_request(request=request, reviewer_id=member.pk, answer=decision)
    browser = signed_in(owner)
    page = browser.get(f"{LIST}{request.pk}/")
    assert f'<p class="answer-given" dir="auto">{said}</p>' in page.content.decode()
    timeline = page.content.decode().split('<ol class="timeline">')[1].split("</ol>")[0]
    assert said in timeline
    assert said in words(browser.get(LIST))
    lines = b"".join(browser.get(f"{LIST}export.csv")).decode()
    assert f",{said}," in lines
    assert '"action"' not in words(browser.get(LIST))
    assert said in words(signed_in(member).get("/my-work/"))


def test_edits_that_disagree_say_what_may_run(
    owner: User, member: User, make: Make, settings: Settings
) -> None:
    request = make(**FIELDS, policy=Policy("unanimous", 2).store())
    for person, amount in ((member, 99), (owner, 98.5)):
        edited = {**ARGUMENTS, "amount": amount, "body": f"\u202e{'Dear Bob. ' * 50}{amount}"}
        answer = {"action": "edit", "arguments": edited}
        services.answer_request(request=request, reviewer_id=person.pk, answer=answer)
    for browser, path in ((signed_in(owner), LIST), (signed_in(member), "/inbox/")):
        response = browser.get(f"{path}{request.pk}/")
        assert "They did not agree" in words(response)
        found = re.search(rb'aria-labelledby="policy".*?</section>', response.content, re.DOTALL)
        assert found
        response.content = found[0]
        page = words(response)
        assert "Decision Approved with changes: amount, body amount 99 body" in page
        assert "Decision Approved with changes: amount, body amount 98.5 body" in page
        assert "Dear Bob.…" in page
        assert "\u202e" not in page
    settings.KEEP_TEXTS_DAYS = 10
    past = timedelta(days=11)
    Request.objects.update(created_at=F("created_at") - past, timeout_at=F("timeout_at") - past)
    assert tasks.prune_requests() == 1
    page = words(signed_in(owner).get(f"{LIST}{request.pk}/"))
    assert "Approved with changes: amount, body" in page
    assert "Decision" not in page


def test_the_request_page_shows_the_call(owner: User, member: User, make: Make) -> None:
    request = make(**FIELDS)
    browser = signed_in(owner)
    page = words(browser.get(f"{LIST}{request.pk}/"))
    assert "Proposed action High risk Action: issue_refund" in page
    assert "order 4821 amount 129.5 body" in page
    assert "1,000 characters" in page
    edited = {"action": "edit", "arguments": {**ARGUMENTS, "amount": 99}}
    services.answer_request(request=request, reviewer_id=member.pk, answer=edited)
    assert "amount Before 129.5 After 99" in words(browser.get(f"{LIST}{request.pk}/"))


def test_the_default(owner: User, make: Make) -> None:
    request = make(**FIELDS)
    make_overdue(request)
    page = words(signed_in(owner).get(f"{LIST}{request.pk}/"))
    assert "The default response was used: Rejected: Nobody looked." in page


def test_in_german(owner: User, member: User, make: Make) -> None:
    request = make(**FIELDS)
    edited = {"action": "edit", "arguments": {**ARGUMENTS, "amount": 99}}
    services.answer_request(request=request, reviewer_id=member.pk, answer=edited)
    browser = signed_in(owner)
    browser.defaults["HTTP_ACCEPT_LANGUAGE"] = "de"
    page = words(browser.get(f"{LIST}{request.pk}/"))
    assert "Mit Änderungen genehmigt: amount" in page
    assert "Hohes Risiko" in page


def test_ask_again(owner: User, loop: Loop, make: Make) -> None:
    request = make(**FIELDS)
    browser = signed_in(owner)
    page = browser.get(f"{LIST}new/?from={request.pk}")
    html = page.content.decode()
    assert "issue_refund" in html
    assert "reject: Nobody looked." in html
    assert "approve\nedit\nreject\nrespond" in html


def test_rates_of_a_loop(owner: User, member: User, loop: Loop, make: Make) -> None:
    browser = signed_in(owner)
    assert "Approvals" not in words(browser.get(f"/dashboard/loops/{loop.pk}/"))
    for decision in (
        {"action": "approve"},
        {"action": "approve"},
        {"action": "edit", "arguments": {**ARGUMENTS, "order": 1}},
        {"action": "reject", "message": '"action":"approve"'},
    ):
        services.answer_request(request=make(**FIELDS), reviewer_id=member.pk, answer=decision)
    services.answer_request(request=make(), reviewer_id=member.pk, answer="yes")
    page = words(browser.get(f"/dashboard/loops/{loop.pk}/"))
    assert (
        "Approvals Decisions of the last 90 days. Approved 2 (50 %) Approved with changes 1 (25 %) "
        "Rejected 1 (25 %) Replied 0 (0 %) Timed out 0 (0 %)" in page
    )


def test_a_comment_that_the_loop_demands(member: User, loop: Loop, make: Make) -> None:
    Loop.objects.filter(pk=loop.pk).update(comment_required_for=["reject", "Approve"])
    request: Request = make(**FIELDS)
    browser = signed_in(member)
    path = f"/inbox/{request.pk}/answer/"
    for action, label in (("reject", "Reject"), ("approve", "Approve")):
        refused = browser.post(path, {"answer": action})
        assert refused.status_code == 422
        assert f"Add a comment. It’s required for “{label}”" in words(refused)
    # a reason is comment enough
    assert browser.post(path, {"answer": "reject", "answer.reject": "No."}).status_code == 303
