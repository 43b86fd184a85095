"""Hosts that fail now: noted with each attempt, named on the overview and above the log."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models.functions import Now
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from outbox.items import Item, Outcome
from tests.portal import signed_in, words
from tests.webhooks.conftest import Emit, answered, claim, make_due, no_answer
from tests.webhooks.conftest import end as recorded
from tests.webhooks.log import LOG, NOW, attempted, made
from webhooks import failing_hosts
from webhooks.channel import TEST
from webhooks.failing_hosts import read_failing
from webhooks.models import Delivery, FailingHost
from webhooks.posting import Post
from webhooks.queries import filter_log, read_hosts
from webhooks.services import request_test

pytestmark = pytest.mark.django_db
HOOK = "http://receiver.example/hook"
BROKEN, GONE, GOOD = (
    answered(500),
    no_answer("Timed out."),
    answered(204),
)


def end(item: Item[Post], outcome: Outcome) -> None:
    assert recorded(item, outcome)


def attempt(outcome: Outcome) -> None:
    """One claim that ends like this."""
    (item,) = claim(1)
    end(item, outcome)


def test_a_host_fails_from_its_first_failure_until_it_succeeds(emit_to: Emit, owner: User) -> None:
    emit_to(HOOK, count=6)
    assert read_failing(owner.pk, most=5) == []
    attempt(BROKEN)
    attempt(GONE)
    (failing,) = read_failing(owner.pk, most=5)
    row = FailingHost.objects.get()
    assert failing.since == row.failing_since
    assert (failing.host, failing.failures, failing.waiting) == ("receiver.example", 2, 6)
    assert (failing.status, failing.error) == (None, "Timed out.")
    attempt(GOOD)
    assert read_failing(owner.pk, most=5) == []
    attempt(BROKEN)
    (failing,) = read_failing(owner.pk, most=5)
    assert (failing.failures, failing.status, failing.waiting) == (1, 500, 5)
    assert failing.since == FailingHost.objects.get().failing_since


def test_a_lost_lease_notes_nothing(emit_to: Emit) -> None:
    deliveries = emit_to(HOOK)
    (item,) = claim(1)
    make_due(*deliveries)
    (again,) = claim(1)
    assert not recorded(item, BROKEN)
    assert not FailingHost.objects.exists()
    end(again, GOOD)


def test_test_events_do_not_count(emit_to: Emit, owner: User) -> None:
    test = request_test(account_id=owner.pk, url=HOOK, now=NOW)
    (item,) = claim(1, channel=TEST)
    assert item.content.delivery_id == test.pk
    end(item, BROKEN)
    assert not FailingHost.objects.exists()
    emit_to(HOOK)
    attempt(BROKEN)
    request_test(account_id=owner.pk, url=HOOK, now=NOW)
    (item,) = claim(1, channel=TEST)
    end(item, GOOD)
    assert len(read_failing(owner.pk, most=5)) == 1


def test_accounts_do_not_see_each_other(emit_to: Emit, owner: User, member: User) -> None:
    emit_to(HOOK)
    emit_to(HOOK, member)
    for item in claim(2):
        end(item, BROKEN if item.account == owner.pk else GOOD)
    assert len(read_failing(owner.pk, most=5)) == 1
    assert read_failing(member.pk, most=5) == []


def test_a_host_that_nobody_calls_is_forgotten(emit_to: Emit, owner: User) -> None:
    emit_to(HOOK)
    attempt(BROKEN)
    FailingHost.objects.update(last_failed_at=Now() - timedelta(hours=25))
    assert len(read_failing(owner.pk, most=5)) == 1  # one still waits
    Delivery.objects.update(state="dead")
    assert read_failing(owner.pk, most=5) == []


def test_waiting_deliveries_are_counted_up_to_a_bound(emit_to: Emit, owner: User) -> None:
    emit_to(HOOK, count=1003)
    attempt(BROKEN)
    assert read_failing(owner.pk, most=5)[0].waiting == failing_hosts.MAX_COUNTED + 1
    page = words(signed_in(owner).get("/dashboard/"))
    assert "More than 1,000 deliveries waiting" in page


def test_the_overview_names_them_before_anything_is_dead(emit_to: Emit, owner: User) -> None:
    emit_to(HOOK, count=3)
    attempt(answered(503))
    browser = signed_in(owner)
    response = browser.get("/dashboard/")
    page = words(response)
    assert re.search(
        r"receiver\.example failing since \d+ \w+ \d{4}, \d\d:\d\d UTC , 1 attempt in a row\."
        r" Last result: 503 Service Unavailable\. 3 deliveries waiting",
        page,
    )
    assert "All systems normal" not in page
    link = f"{LOG}?host=receiver.example&amp;state=waiting"
    assert f'href="{link}"' in response.content.decode()
    assert len(browser.get(link.replace("&amp;", "&")).context["window"].rows) == 3
    assert "A host is failing" in words(browser.get(LOG))


def test_six_hosts_are_not_all_named(owner: User) -> None:
    for number in range(6):
        FailingHost.objects.create(
            account=owner,
            host=f"{number}.example",
            failing_since=Now(),
            failures=1,
            last_failed_at=Now(),
            last_error="\u202eNo connection.",
        )
    page = words(signed_in(owner).get("/dashboard/"))
    assert "5.example" not in page
    assert "4.example failing since" in page
    assert r"\u202eNo connection." in page
    assert "More hosts are failing. Failing deliveries" in page


class TestLog:
    def test_rows_show_host_and_last_result(self, owner: User) -> None:
        item = made(owner, failed_attempts=2)
        attempted(item, status_code=500, started_at=NOW - timedelta(minutes=1))
        attempted(item, error="No connection to\u202e it.")
        attempted(item, finished_at=None)
        page = words(signed_in(owner).get(LOG))
        assert r"receiver.example No connection to\u202e it. Failing" in page
        assert "500 Internal" not in page

    def test_filters(self, owner: User) -> None:
        here = made(owner, failed_attempts=1)
        there = made(owner, host="other.example:8080")
        dead = made(owner, host="other.example:8080", state="dead")
        browser = signed_in(owner)

        def ids(query: str) -> list[str]:
            return [row.pk for row in browser.get(f"{LOG}?{query}").context["window"].rows]

        assert ids("state=failing") == [here.pk]
        assert ids("host=Other.example:8080") == [dead.pk, there.pk]
        assert ids("host=https://me:secret@other.example:8080/hook?x") == [dead.pk, there.pk]
        assert ids("host=other.example:8080&state=dead") == [dead.pk]
        assert ids("host=other.example") == []
        assert browser.get(f"{LOG}?host=https://[x").status_code == 422
        assert read_hosts(owner.pk) == ["other.example:8080", "receiver.example"]
        assert '<option value="other.example:8080">' in browser.get(LOG).content.decode()

    @pytest.mark.parametrize(
        ("index", "query"),
        [
            ("delivery_by_host", {"host": "rare.example"}),
            ("delivery_dead_by_host", {"host": "rare.example", "state": "dead"}),
            ("delivery_failing", {"state": "failing"}),
        ],
    )
    def test_each_filter_has_its_index(
        self, owner: User, index: str, query: dict[str, str]
    ) -> None:
        template = made(owner)
        with connection.cursor() as cursor:
            cursor.execute(MANY, [template.pk])
            cursor.execute("ANALYZE webhooks_delivery")
            cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        chosen = {"state": "", "event": "", "host": "", **query}
        mine = Delivery.objects.of_account(owner.pk)
        assert f"{index} " in filter_log(mine, chosen).newest_first()[:51].explain()

    def test_statements(
        self, emit_to: Emit, owner: User, django_assert_num_queries: DjangoAssertNumQueries
    ) -> None:
        emit_to(HOOK, count=60)
        for item in claim(4):
            end(item, BROKEN)
        browser = signed_in(owner)
        with django_assert_num_queries(6):  # session, person, pulse, deliveries, hosts, failing
            browser.get(f"{LOG}?state=failing&host=receiver.example")


MANY = """
INSERT INTO webhooks_delivery (id, account_id, event, subject_id, occurrence, url, host, body,
       state, next_attempt_at, failed_attempts, is_manual, created_at, delivered_at)
SELECT lpad(to_hex(n), 21, '0') || right(account_id, 3), account_id, event, subject_id, n::text,
       url, host, body, s.state, now(), (n %% 100 = 0)::int, false,
       now() + n * interval '1 s', CASE s.state WHEN 'delivered' THEN now() END
  FROM webhooks_delivery, generate_series(1, 6000) n
 CROSS JOIN LATERAL (SELECT CASE WHEN n %% 3 = 0 THEN 'waiting' WHEN n %% 3 = 1 THEN 'dead'
                            ELSE 'delivered' END AS state) s
 WHERE id = %s
"""
