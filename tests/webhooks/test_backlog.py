"""What waits for a receiver after an outage of it."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from tests.webhooks.conftest import Emit, answered, claim, end
from webhooks.models import Delivery

pytestmark = pytest.mark.django_db
HOOK = "http://receiver.example/hook"
# A long outage: each became due a second after the one before, the last of them an hour ago.
_BACKLOG = """
INSERT INTO webhooks_delivery (id, account_id, event, subject_id, occurrence, url, host, body,
       state, next_attempt_at, failed_attempts, is_manual, created_at)
SELECT lpad(to_hex(n), 21, '0') || right(%(account)s, 3), %(account)s, 'request.completed',
       lpad(to_hex(n), 24, '0'), %(host)s || n, 'http://' || %(host)s || '/hook', %(host)s, '{}',
       'waiting', statement_timestamp() - make_interval(
           secs => 3600 + %(count)s + %(first)s - n), 0, false,
       statement_timestamp()
  FROM generate_series(%(first)s, %(first)s + %(count)s - 1) AS n
"""


def add_backlog(
    account: User, count: int, *, host: str = "receiver.example", first: int = 1
) -> None:
    params = {"account": account.pk, "count": count, "host": host, "first": first}
    with connection.cursor() as cursor:
        cursor.execute(_BACKLOG, params)


def test_a_backlog_goes_in_order_the_oldest_first(emit_to: Emit, owner: User) -> None:
    add_backlog(owner, 6)
    (new,) = emit_to(HOOK)
    ids = list(Delivery.objects.order_by("next_attempt_at").values_list("pk", flat=True))
    assert ids[-1] == new.pk
    seen: list[str] = []
    while items := claim(2):
        seen += [item.content.delivery_id for item in items]
        for item in items:
            assert end(item, answered(200))
    assert seen == ids


def scanned(plan: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Each scan of the deliveries in a plan, with how many rows it read."""
    if plan.get("Relation Name") == "webhooks_delivery" and "Scan" in plan["Node Type"]:
        read = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)
        yield plan["Node Type"], read * plan["Actual Loops"]
    for child in plan.get("Plans", []):
        yield from scanned(child)


def test_a_claim_reads_no_more_of_a_long_backlog_than_of_a_short_one(
    owner: User, member: User, emit_to: Emit
) -> None:
    read = []
    for count in (5_000, 20_000):
        Delivery.objects.all().delete()
        add_backlog(owner, count)
        add_backlog(member, count, host="other.example", first=100_000)
        emit_to(HOOK)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE webhooks_delivery")
        with CaptureQueriesContext(connection) as captured:
            claim(50)
        Delivery.objects.filter(claim_id__isnull=False).update(
            claim_id=None, next_attempt_at=F("created_at")
        )
        with connection.cursor() as cursor:
            (statement,) = (each["sql"] for each in captured if "RECURSIVE" in each["sql"])
            cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {statement}")
            ((plan,),) = cursor.fetchall()
        scans = list(scanned(plan[0]["Plan"]))
        assert "Seq Scan" not in {kind for kind, _ in scans}
        read.append(sum(rows for _, rows in scans))
    assert django_settings.WEBHOOK_PER_HOST == 4
    assert read[1] == read[0] < 100, read
