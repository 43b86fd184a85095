"""The export has the rows and words of the list above its button, wherever its reader lives."""

import csv
import html
import io
import re
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db.models import Q
from django.db.models.functions import Now

from accounts.models import User
from dashboard import export
from reviews import services
from reviews.models import Request
from tests.portal import signed_in
from tests.reviews.conftest import Make

pytestmark = pytest.mark.django_db
LIST = "/dashboard/requests/"
ROW = re.compile(r'<tr role="row">(?:(?!</tr>).)*?id="question-(\w+)".*?</tr>', re.DOTALL)
# Zones with a clock change on each of the days, some of them at midnight: then the day has no
# 00:00, or two of them.
CHANGES = {
    "Europe/Berlin": (date(2026, 3, 29), date(2026, 10, 25)),
    "America/New_York": (date(2026, 3, 8), date(2026, 11, 1)),
    "America/Havana": (date(2026, 3, 8), date(2026, 11, 1)),
    "America/Santiago": (date(2026, 4, 4), date(2026, 9, 6)),
    "America/Sao_Paulo": (date(2018, 2, 17), date(2018, 11, 4)),
    "Africa/Cairo": (date(2026, 4, 24), date(2026, 10, 29)),
    "Asia/Beirut": (date(2026, 3, 29), date(2026, 10, 24)),
    "Australia/Lord_Howe": (date(2026, 4, 5), date(2026, 10, 4)),
    "Pacific/Auckland": (date(2026, 4, 5), date(2026, 9, 27)),
    "Pacific/Apia": (date(2011, 12, 29), date(2011, 12, 31)),  # the 30th did not exist
}
DAYS = [(zone, day) for zone, days in CHANGES.items() for day in days]


def lines(page: str) -> dict[str, str]:
    """The rows of the list: the words of each, by the id of its request."""
    return {
        row[1]: " ".join(html.unescape(re.sub(r"<[^>]*>", " ", row[0])).split())
        for row in ROW.finditer(page)
    }


def cells(response: Any) -> list[dict[str, str]]:
    text = b"".join(response.streaming_content).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def make_in_every_state(make: Make, owner: User, member: User) -> list[Request]:
    """Requests of which two each are open, claimed, answered, timed out and cancelled."""
    made = [make(request_text=f"Question {number}?", priority=priority) for number, priority in
            enumerate(["low", "medium", "high", "critical"] * 2 + ["low", "high"])]  # fmt: skip
    for request in made[2:6]:
        services.claim_request(request=request, reviewer_id=member.pk)
    for request in made[4:6]:
        services.answer_request(request=request, reviewer_id=member.pk, answer="yes")
    for request in made[8:]:
        services.cancel_request(request_id=request.pk, account_id=owner.pk)
    due = [request.pk for request in made[6:8]]
    Request.objects.filter(pk__in=due).update(timeout_at=Now() - timedelta(seconds=1))
    return made


@pytest.mark.parametrize(("zone", "day"), DAYS)
def test_they_are_the_same(
    make: Make, owner: User, member: User, monkeypatch: pytest.MonkeyPatch, zone: str, day: date
) -> None:
    monkeypatch.setattr(export, "PAGE", 3)  # most of the file is made after the request
    User.objects.filter(pk=owner.pk).update(time_zone=zone, language="de")
    made = make_in_every_state(make, owner, member)
    begin = datetime.combine(day, time.min, ZoneInfo("UTC")) - timedelta(hours=15)
    # round the day, from its beginning in the east to its end in the west
    for number, request in enumerate(made):
        at = begin + number * timedelta(hours=54) / len(made)
        Request.objects.filter(pk=request.pk).update(created_at=at)
    edges = [request.pk for request in made[4:8]]
    first = datetime.combine(day, time.min, ZoneInfo(zone)).astimezone(ZoneInfo("UTC"))
    last = datetime.combine(day + timedelta(days=1), time.min, ZoneInfo(zone))
    last = last.astimezone(ZoneInfo("UTC"))
    moments = [first - timedelta(seconds=1), first, last - timedelta(seconds=1), last]
    for pk, at in zip(edges, moments, strict=True):
        Request.objects.filter(pk=pk).update(created_at=at)
    browser = signed_in(owner)
    queries: list[dict[str, Any]] = [
        {"since": day, "until": day}, {"since": day}, {"until": day},
        {"since": day, "until": day, "priority": "high"},
    ]  # fmt: skip
    for query in queries:
        shown = lines(browser.get(LIST, query).content.decode())
        exported = cells(browser.get(f"{LIST}export.csv", query))
        assert [row["id"] for row in exported] == list(shown)
        for row in exported:
            for name in ("question", "loop", "status", "priority"):
                assert row[name] in shown[row["id"]], name
        assert set(shown) == right(query, ZoneInfo(zone))
    assert {row["status"] for row in cells(browser.get(f"{LIST}export.csv"))} == {
        "Ausstehend", "Übernommen", "Abgeschlossen", "Abgelaufen", "Abgebrochen",
    }  # fmt: skip


def test_the_language_is_that_of_the_browser(make: Make, owner: User) -> None:
    """Where the account has chosen none."""
    make()
    browser = signed_in(owner, headers={"Accept-Language": "de"})
    (row,) = cells(browser.get(f"{LIST}export.csv"))
    assert (row["status"], row["priority"]) == ("Ausstehend", "Hoch")


def right(query: dict[str, Any], zone: ZoneInfo) -> set[str]:
    """The ids of those requests whose clock on the wall shows one of the days."""
    priority = Q(priority=query["priority"]) if "priority" in query else Q()
    return {
        request.pk
        for request in Request.objects.filter(priority)
        if query.get("since", date.min)
        <= request.created_at.astimezone(zone).date()
        <= query.get("until", date.max)
    }
