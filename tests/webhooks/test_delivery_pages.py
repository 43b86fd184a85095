"""The log of deliveries: what the account holder sees of it, and that nobody else does."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from db import worker_status
from db.ids import new_id
from db.models import Heartbeat
from tests.portal import signed_in, words
from tests.webhooks.log import LOG, NOW, attempted, made, pks
from web.keyset import format_cursor
from webhooks.models import Delivery

pytestmark = pytest.mark.django_db


DELIVERED = """
INSERT INTO webhooks_delivery (id, account_id, event, subject_id, occurrence, url, host, body,
       state, next_attempt_at, failed_attempts, is_manual, created_at, delivered_at)
SELECT lpad(to_hex(n), 21, '0') || right(account_id, 3), account_id, event, subject_id, n::text,
       url, host, body,
       'delivered', now(), 0, false, now() + n * interval '1 s', now()
  FROM webhooks_delivery, generate_series(1, 3000) n WHERE id = %s
"""


def behind(delivery: Delivery) -> str:
    """The page that begins after a delivery."""
    return f"{LOG}?before={format_cursor((delivery.created_at, delivery.pk))}"


def listed(answer: Any) -> list[str]:
    """The ids of the deliveries on the page, from top to bottom."""
    found: list[str] = re.findall(
        rf'href="{LOG}([0-9a-f]{{24}})/"', answer.content.decode().partition("<tbody")[2]
    )
    return found


class TestList:
    def test_newest_first_with_all_that_matters(self, owner: User) -> None:
        soon = timezone.now() + timedelta(minutes=10, seconds=50)
        dead = made(owner, "request.timeout", state="dead")
        waiting = made(owner, "request.claimed", next_attempt_at=soon)
        delivered = made(owner, state="delivered")
        for _ in range(12):
            attempted(dead, error="No connection.")
        response = signed_in(owner).get(LOG)
        assert listed(response) == pks([delivered, waiting, dead])
        page = words(response)
        result = "receiver.example No connection. Dead No connection."
        assert f"request.timeout {result} 12 {dead.subject_id} " in page
        assert "Waiting next attempt in 10 min – 0 " in page
        assert f'<time datetime="{soon:%Y-%m-%dT%H:%M:%S}Z"' in response.content.decode()
        row = f"request.completed receiver.example Delivered – 0 {delivered.subject_id} "
        assert row in page

    def test_an_attempt_under_way_has_no_next_one(self, owner: User) -> None:
        made(owner, claim_id=new_id())
        page = words(signed_in(owner).get(LOG))
        assert "attempt in progress" in page
        assert "next attempt" not in page

    def test_only_my_own(self, owner: User, member: User) -> None:
        made(owner)
        mine = made(member)
        assert listed(signed_in(member).get(LOG)) == [mine.pk]

    def test_the_dead_are_found_by_their_own_index(self, owner: User) -> None:
        dead = made(owner, state="dead")
        with connection.cursor() as cursor:
            cursor.execute(DELIVERED, [dead.pk])
            cursor.execute("ANALYZE webhooks_delivery")
            cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        mine = Delivery.objects.of_account(owner.pk)
        assert "delivery_dead" in mine.in_state("dead").newest_first()[:51].explain()
        assert listed(signed_in(owner).get(f"{LOG}?state=dead")) == [dead.pk]
        with pytest.raises(ValueError, match="gone"):
            mine.in_state("gone")

    def test_an_empty_log_says_how_to_fill_it(self, owner: User, outsider: User) -> None:
        made(owner)
        page = words(signed_in(outsider).get(LOG))
        assert "No deliveries yet" in page
        assert "callback_url" in page

    def test_filters_are_in_the_address(self, owner: User) -> None:
        dead = made(owner, "request.timeout", state="dead")
        other = made(owner, "request.completed", state="dead")
        made(owner, "request.timeout")
        browser = signed_in(owner)
        assert listed(browser.get(f"{LOG}?state=dead")) == pks([other, dead])
        response = browser.get(f"{LOG}?state=dead&event=request.timeout")
        assert listed(response) == [dead.pk]
        assert '<option value="dead" selected>' in response.content.decode()
        nothing = browser.get(f"{LOG}?state=delivered&event=")
        assert "No matching deliveries Show all" in words(nothing)

    @pytest.mark.parametrize("query", ["state=lost", "event=x%00y", "state=dead'--"])
    def test_filters_that_there_are_not(self, owner: User, query: str) -> None:
        made(owner)
        response = signed_in(owner).get(f"{LOG}?{query}")
        assert (response.status_code, listed(response)) == (422, [])
        assert "Select a valid choice." in words(response)

    def test_pages_of_fifty_also_within_one_moment(self, owner: User) -> None:
        ids = [made(owner, state="dead").pk for _ in range(103)]
        Delivery.objects.all().update(created_at=NOW)
        made(owner, created_at=NOW - timedelta(days=1))
        expected = sorted(ids, reverse=True)
        browser = signed_in(owner)
        seen, path = [], f"{LOG}?state=dead"
        while path:
            response = browser.get(path)
            rows = listed(response)
            assert len(rows) <= 50
            seen += rows
            found = re.search(r'href="(\?[^"]*)">Older', response.content.decode())
            path = LOG + found[1].replace("&amp;", "&") if found else ""
        assert seen == expected
        assert "Newest" in words(response)

    def test_behind_the_oldest_is_nothing(self, owner: User) -> None:
        assert "No matching deliveries" in words(signed_in(owner).get(behind(made(owner))))

    def test_tests_of_strangers_are_not_found(self, owner: User, member: User) -> None:
        theirs = made(member)
        attempted(theirs)
        browser = signed_in(owner)
        for value in (theirs.pk, "x", new_id(), "%00"):
            assert browser.get(f"{LOG}?tested={value}").status_code == 404

    def test_a_page_goes_on_behind_a_row_that_was_removed(self, owner: User) -> None:
        older, last = made(owner), made(owner)
        following = behind(last)
        last.delete()
        assert listed(signed_in(owner).get(following)) == [older.pk]

    def test_behind_what_is_not_ones_own_are_ones_own(self, owner: User, member: User) -> None:
        mine = made(owner)
        made(member)
        assert listed(signed_in(owner).get(behind(made(member)))) == [mine.pk]

    @pytest.mark.parametrize("count", [1, 60])
    def test_statements(
        self, owner: User, count: int, django_assert_num_queries: DjangoAssertNumQueries
    ) -> None:
        for _ in range(count):
            attempted(made(owner, state="dead"))
        browser = signed_in(owner)
        with django_assert_num_queries(6):  # session, person, pulse, deliveries, hosts, failing
            assert len(listed(browser.get(LOG))) == min(count, 50)
        newest = Delivery.objects.newest_first()[0]
        with django_assert_num_queries(6):
            browser.get(behind(newest))


class TestPulse:
    def read(self, owner: User) -> str:
        found = re.search(r"Background work is [^.]*\.", words(signed_in(owner).get(LOG)))
        assert found
        return found[0]

    def beat(self, seconds_ago: float) -> None:
        for name in worker_status.EXPECTED_SWEEPS:
            worker_status.record_heartbeat(name)
        Heartbeat.objects.update(beat_at=datetime.now(UTC) - timedelta(seconds=seconds_ago))

    def test_none(self, owner: User) -> None:
        assert self.read(owner) == "Background work is not running."

    def test_one_that_never_ran(self, owner: User) -> None:
        worker_status.record_heartbeat("deliver_due")
        assert self.read(owner) == "Background work is not running."

    def test_stopped(self, owner: User) -> None:
        self.beat(3600)
        assert self.read(owner) == "Background work is not running."

    def test_behind(self, owner: User) -> None:
        self.beat(20.2)
        assert re.fullmatch(r"Background work is 2\d s behind\.", self.read(owner))

    def test_alive(self, owner: User) -> None:
        self.beat(0)
        assert "Background work" not in words(signed_in(owner).get(LOG))


class TestDetail:
    def test_each_attempt(self, owner: User) -> None:
        item = made(owner)
        refused = attempted(
            item,
            started_at=NOW - timedelta(hours=2),
            status_code=503,
            request_headers={"webhook-id": item.pk},
            response_headers={"Retry-After": "120", "X-Odd": "a\nb"},
            response_body=b"come back later",
        )
        attempted(item, started_at=NOW - timedelta(hours=1), error="No connection.")
        attempted(item, is_manual=True, finished_at=None)
        page = words(signed_in(owner).get(f"{LOG}{item.pk}/"))
        assert "Attempts (3)" in page
        assert "Attempt 3 Interrupted or in progress Manual" in page
        assert "Attempt 2 No connection. after 1.25 s" in page
        assert f"Attempt 1 503 Service Unavailable after 1.25 s {refused.started_at:%-d %b}" in page
        assert r"Response headers Retry-After 120 X-Odd a\nb" in page
        assert "Response body come back later" in page
        assert f"Request headers webhook-id {item.pk}" in page

    def test_the_password_of_the_receiver_is_hidden(self, owner: User) -> None:
        delivery = made(owner, url="https://agent:s3cret@receiver.example/hook")
        page = words(signed_in(owner).get(f"{LOG}{delivery.pk}/"))
        assert "https://***@receiver.example/hook" in page
        assert "s3cret" not in page

    def test_the_body_is_laid_out_and_nothing_in_it_is_changed(self, owner: User) -> None:
        exact = rb'{"a":1e308,"b":[],"c":[{"d":"x{,}\"\\"},1.50],"e":{}}'
        item = made(owner, body=exact)
        page = signed_in(owner).get(f"{LOG}{item.pk}/").content.decode().replace("&quot;", '"')
        assert (
            '>{\n  "a": 1e308,\n  "b": [],\n  "c": [\n    {\n      "d": "x{,}\\"\\\\"\n    },\n'
            '    1.50\n  ],\n  "e": {}\n}</pre>'
        ) in page

    @pytest.mark.parametrize(
        "body",
        [b"", b"no json \xff", b'"' * 20_001, b"[" * 20_000, b"\x00{]}", b'{"\\ud800": "\\u202e"}'],
    )
    def test_any_bytes_can_be_shown(self, owner: User, body: bytes) -> None:
        assert signed_in(owner).get(f"{LOG}{made(owner, body=body).pk}/").status_code == 200

    def test_what_came_back_cannot_do_anything(self, owner: User) -> None:
        item = made(owner)
        hostile = "</pre><script>alert(1)</script>\x00\u202eevil\u2066\x1b[31m\ufeff\rx"
        attempted(
            item,
            status_code=799,
            response_headers={"X-<b>": f"<img src=x>{'y' * 60_000}\u202e"},
            response_body=hostile.encode() + b"\xff\xfe",
            error="",
        )
        attempted(item, error="BadStatusLine: <script>\u202e\x07")
        response = signed_in(owner).get(f"{LOG}{item.pk}/")
        page = response.content.decode()
        assert "<script>" not in page
        assert "<img src=x" not in page
        assert not re.search("[\x00-\x08\x0b-\x1f\u202e\u2066\ufeff]", page)
        assert "&lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;\\u0000\\u202eevil" in page
        assert "\ufffd\ufffd</pre>" in page
        assert len(page) < 20_000

    def test_many_attempts_have_pages(
        self, owner: User, django_assert_num_queries: DjangoAssertNumQueries
    ) -> None:
        item = made(owner)
        for number in range(30):
            attempted(item, started_at=NOW + timedelta(seconds=number), status_code=500)
        browser = signed_in(owner)
        with django_assert_num_queries(5):  # session, person, delivery, count, attempts
            page = words(browser.get(f"{LOG}{item.pk}/"))
        assert re.findall(r"Attempt (\d+) ", page) == [str(n) for n in range(30, 18, -1)]
        page = words(browser.get(f"{LOG}{item.pk}/?page=3"))
        assert re.findall(r"Attempt (\d+) ", page) == [str(n) for n in range(6, 0, -1)]

    def test_others_and_nonsense_have_one_page(self, owner: User, member: User) -> None:
        theirs = made(member)
        browser = signed_in(owner)
        answers = [browser.get(f"{LOG}{each}/") for each in (theirs.pk, new_id(), "x", "%00")]
        assert {answer.status_code for answer in answers} == {404}
        assert len({words(answer) for answer in answers}) == 1

    def test_looking_changes_nothing(self, owner: User) -> None:
        item = made(owner, state="dead")
        before = Delivery.objects.values().get()
        browser = signed_in(owner)
        for path in ("", f"{item.pk}/", f"{item.pk}/resend/", "resend-dead/", "test/"):
            browser.get(LOG + path)
        assert Delivery.objects.values().get() == before


SOMETHING = "0123456789abcdef01234567"  # the same in every worker of the tests
PATHS = ["", f"{SOMETHING}/", f"{SOMETHING}/resend/", "resend-dead/", "test/"]


@pytest.mark.parametrize("path", PATHS)
def test_strangers_sign_in_first(path: str) -> None:
    assert Client().get(LOG + path)["Location"] == f"/accounts/login/?next={LOG}{path}"


@pytest.mark.parametrize("path", PATHS[2:])
def test_forms_need_the_pages_own_token(owner: User, path: str) -> None:
    browser = signed_in(owner, enforce_csrf_checks=True)
    assert browser.post(LOG + path).status_code == 403


@pytest.mark.parametrize(("path", "allowed"), [("", 405), ("test/", 405), ("resend-dead/", 405)])
def test_other_methods(owner: User, path: str, allowed: int) -> None:
    assert signed_in(owner).put(LOG + path).status_code == allowed


def test_back_from_the_sign_in_page(owner: User) -> None:
    item = made(owner)
    browser = signed_in(owner)
    assert browser.get(f"{LOG}{item.pk}/resend/")["Location"] == f"{LOG}{item.pk}/"
    assert browser.get(f"{LOG}test/")["Location"] == LOG


def test_the_way_there(owner: User) -> None:
    assert f'href="{LOG}"' in signed_in(owner).get("/accounts/email/").content.decode()
    assert LOG not in Client().get("/").content.decode()
