"""/dashboard/audit/: sentences, filters, and pages by index."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.audit import record
from accounts.models import AuditEntry, User
from accounts.services import create_api_key
from db.ids import new_id
from tests.portal import signed_in, words
from web.keyset import format_cursor

pytestmark = pytest.mark.django_db
PAGE = "/dashboard/audit/"


def note(account: User, action: str, **fields: Any) -> None:
    fields.setdefault("actor_id", account.pk)
    record(account_id=account.pk, action=action, **fields)


def noted_at(account: User, moment: datetime, subject: str) -> None:
    AuditEntry.objects.create(
        account=account, actor=account, action="key.created", subject=subject, created_at=moment
    )


def test_who_did_what(owner: User, member: User, operator: User) -> None:
    key, _ = create_api_key(user=owner, name="CI")
    note(owner, "loop.created", subject="Refund desk", key_id=key.pk)
    note(owner, "member.joined", subject="Refund desk", actor_id=member.pk)
    note(owner, "account.switched_off", actor_id=operator.pk)
    note(owner, "sign_in.failed", actor_id=None, ip="192.0.2.7")
    note(member, "key.created", subject="theirs")
    said = words(signed_in(owner).get(PAGE))
    assert f"You created the key CI ({key})" in said
    assert f"You created the loop Refund desk {key}" in said
    assert "Member joined the loop Refund desk" in said
    assert "The operator (operator@example.com) disabled the account" in said
    assert "Someone failed to sign in 192.0.2.7" in said
    assert "theirs" not in said


def test_filters(owner: User, member: User) -> None:
    note(owner, "key.created", subject="one")
    note(owner, "member.joined", subject="two", actor_id=member.pk)
    note(owner, "sign_in.failed", subject="three", actor_id=None)
    browser = signed_in(owner)
    for query, expected in (
        ("kind=key", {"one"}),
        ("kind=sign_in", {"three"}),
        ("who=me", {"one"}),
        ("who=others", {"two", "three"}),
        ("who=others&kind=member", {"two"}),
        ("kind=loop", set()),
        ("", {"one", "two", "three"}),
    ):
        source = browser.get(f"{PAGE}?{query}").content.decode()
        assert set(re.findall(r">(one|two|three)<", source)) == expected, query


def test_days_are_those_of_the_reader(owner: User) -> None:
    noted_at(owner, datetime(2026, 3, 1, 14, 59, tzinfo=UTC), "first")  # 23:59 in Tokyo
    noted_at(owner, datetime(2026, 3, 1, 15, 0, tzinfo=UTC), "second")
    noted_at(owner, datetime(2026, 3, 2, 14, 59, tzinfo=UTC), "third")
    noted_at(owner, datetime(2026, 3, 2, 15, 0, tzinfo=UTC), "fourth")
    owner.time_zone = "Asia/Tokyo"
    owner.save()
    response = signed_in(owner).get(f"{PAGE}?since=2026-03-02&until=2026-03-02")
    source = response.content.decode()
    assert re.findall(r">(first|second|third|fourth)<", source) == ["third", "second"]
    assert "2 Mar 2026, 00:00:00 JST" in words(response)


@pytest.mark.parametrize(
    ("query", "fault"),
    [
        ("since=yesterday", "Enter a valid date."),
        ("since=2026-03-02&until=2026-03-01", "The last day is before the first"),
        ("kind=nothing", "nothing is not one of the available choices."),
        ("kind=%00", "Null characters are not allowed"),
    ],
)
def test_a_filter_that_makes_no_sense(owner: User, query: str, fault: str) -> None:
    response = signed_in(owner).get(f"{PAGE}?{query}")
    assert response.status_code in (200, 422)
    if response.status_code == 422 and "%00" not in query:
        assert fault in words(response)


@pytest.mark.parametrize("query", ["until=9999-12-31", "since=0001-01-01"])
def test_the_ends_of_the_calendar(owner: User, query: str) -> None:
    owner.time_zone = "Pacific/Kiritimati"
    owner.save()
    assert signed_in(owner).get(f"{PAGE}?{query}").status_code == 200


def test_pages_neither_repeat_nor_skip(
    owner: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    moment = datetime(2026, 3, 1, tzinfo=UTC)
    for number in range(120):
        noted_at(owner, moment + timedelta(seconds=number // 3), f"n{number:03}")
    browser, path, seen = signed_in(owner), PAGE, []
    while path:
        with django_assert_num_queries(3):
            source = browser.get(path).content.decode()
        seen += re.findall(r">(n\d\d\d)<", source)
        older = re.search(r'href="(\?before=[0-9a-f-]+)"', source)
        path = PAGE + older[1] if older else ""
    rows = AuditEntry.objects.order_by("-created_at", "-id").values_list("subject", flat=True)
    assert seen == list(rows)


def test_the_filter_stays_while_paging(owner: User) -> None:
    for number in range(60):
        note(owner, "key.created", subject=f"n{number}")
    source = signed_in(owner).get(f"{PAGE}?kind=key&who=me").content.decode()
    assert re.search(r'href="\?kind=key&amp;who=me&amp;before=[0-9a-f-]+"', source)


def test_a_page_is_read_by_index(owner: User) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO accounts_auditentry (id, account_id, action, subject, created_at)"
            " SELECT lpad(to_hex(n), 21, '0') || right(%s, 3), %s, 'key.created', '',"
            " now() - n * interval '1 s' FROM generate_series(1, 5000) n",
            [owner.pk, owner.pk],
        )
        cursor.execute("ANALYZE accounts_auditentry")
        entries = AuditEntry.objects.filter(account=owner).order_by("-created_at", "-pk")[:51]
        assert "audit_by_account" in entries.explain()


def test_an_outsider_sees_their_own_alone(owner: User, outsider: User) -> None:
    note(owner, "key.created", subject="private")
    behind = format_cursor((AuditEntry.objects.get().created_at + timedelta(hours=1), new_id()))
    browser = signed_in(outsider)
    for query in ("", f"?before={behind}", "?who=others"):
        assert "private" not in browser.get(PAGE + query).content.decode()
    assert "No entries yet" in words(browser.get(PAGE))
    assert browser.get(f"{PAGE}?before=x").status_code == 404
    assert browser.post(PAGE).status_code == 405


def test_strangers_sign_in_first() -> None:
    response = Client().get(f"{PAGE}?kind=key")
    assert response["Location"] == f"/accounts/login/?next={PAGE}%3Fkind%3Dkey"


def test_it_says_how_long_entries_are_kept(owner: User, settings: Settings) -> None:
    assert "Entries are kept" not in words(signed_in(owner).get(PAGE))
    settings.KEEP_AUDIT_DAYS = 90
    assert "Entries are kept for 90 days." in words(signed_in(owner).get(PAGE))
