"""A loop's page: how approvals were decided by tool, and the download of all decisions."""

import json
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from dashboard.downloads import SignedOut
from loops.models import Loop
from reviews import services
from reviews.models import ExportLease, Request
from reviews.queries import decisions
from tests.api.test_decisions import answer_after
from tests.portal import signed_in, words
from tests.reviews.approvals import PROPOSAL, turn_into_approval
from tests.reviews.conftest import Make

pytestmark = pytest.mark.django_db


def approve(make: Make, person: User, tool: str, seconds: float) -> None:
    asked = make()
    turn_into_approval(asked.pk, proposal={**PROPOSAL, "name": tool})
    answer_after(seconds, asked.pk, person, "approve")


def download(browser: Client, loop: Loop, query: str = "") -> Any:
    return browser.get(f"/dashboard/loops/{loop.pk}/decisions.jsonl{query}")


def test_the_figures_are_told(owner: User, member: User, loop: Loop, make: Make) -> None:
    browser = signed_in(owner)
    assert "Approvals by tool" not in words(browser.get(f"/dashboard/loops/{loop.pk}/"))
    for tool, seconds in (("refund", 1), ("refund", 40), ("deploy", 20)):
        approve(make, member, tool, seconds)
    page = words(browser.get(f"/dashboard/loops/{loop.pk}/"))
    columns = "Tool Approvals Approved Changed Rejected Replied Timed out Median time Within 2 s"
    assert columns in page
    assert "refund 2 100 % 0 % 0 % 0 % 0 % 20 s 50 %" in page
    assert "deploy 1 100 % 0 % 0 % 0 % 0 % 20 s 0 %" in page
    assert "All tools 3 100 % 0 % 0 % 0 % 0 % 20 s 33 %" in page


def test_a_hostile_name_of_a_tool(owner: User, member: User, loop: Loop, make: Make) -> None:
    approve(make, member, "<script>alert(1)</script>", 5)
    source = signed_in(owner).get(f"/dashboard/loops/{loop.pk}/").content.decode()
    assert "<script>alert(1)" not in source
    assert "&lt;script&gt;alert(1)" in source


def test_the_download(owner: User, member: User, loop: Loop, make: Make) -> None:
    for _ in range(3):
        services.answer_request(request=make(), reviewer_id=member.pk, answer="yes")
    browser = signed_in(owner)
    answer = download(browser, loop)
    assert answer["Content-Type"] == "text/jsonl; charset=utf-8"
    assert answer["Content-Disposition"].endswith('.jsonl"')
    rows = [json.loads(line) for line in b"".join(answer.streaming_content).splitlines()]
    answer._iterator.close()
    assert {row["answer"] for row in rows} == {"yes"}
    assert len(rows) == 3
    Request.objects.update(created_at="2026-05-04T12:00:00Z")
    for query, count in (("?since=2026-05-04&until=2026-05-04", 3), ("?since=2026-05-05", 0)):
        answer = download(browser, loop, query)
        assert len(b"".join(answer.streaming_content).splitlines()) == count
        answer._iterator.close()


@pytest.mark.parametrize("query", ["?since=yesterday", "?since=2026-05-04&until=2026-05-01"])
def test_a_wrong_span(owner: User, loop: Loop, query: str) -> None:
    answer = signed_in(owner).get(f"/dashboard/loops/{loop.pk}/decisions.jsonl{query}", follow=True)
    assert "Choose a first and a last day, or neither." in words(answer)


def test_it_ends_with_the_sign_in(
    owner: User, member: User, loop: Loop, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decisions, "PAGE", 1)
    for _ in range(2):
        services.answer_request(request=make(), reviewer_id=member.pk, answer="yes")
    browser = signed_in(owner)
    answer = download(browser, loop)
    parts = iter(answer.streaming_content)
    assert next(parts)
    warned = words(browser.get(f"/dashboard/loops/{loop.pk}/decisions.jsonl", follow=True))
    assert "Another export is running." in warned
    User.objects.filter(pk=owner.pk).update(is_active=False)
    with pytest.raises(SignedOut):
        next(parts)
    answer._iterator.close()
    assert not ExportLease.objects.exists()
