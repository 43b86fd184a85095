"""A page as SQL writes it: the JSON of the serializer, and no more rows read than shown."""

import itertools
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models.functions import Now
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_django import DjangoAssertNumQueries

from db.ids import owned_id
from loops.models import Loop
from reviews.lifecycle import states
from reviews.lifecycle.transitions import BATCH
from reviews.models import Request
from reviews.models.metadata import write_pairs
from reviews.queries import listing
from reviews.queries.metadata import keep_those_with
from reviews.representation import LISTED, encode
from tests.reviews.conftest import Make, by_the_clock
from tests.reviews.test_sweeps import copies
from webhooks.models import Delivery

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
).filter(lambda value: value is not None)
MOMENT = st.datetimes(datetime(2001, 1, 1), datetime(2099, 1, 1), timezones=st.just(UTC))


@settings(deadline=None, max_examples=50, suppress_health_check=list(HealthCheck))
@given(
    status=st.sampled_from(states.STATUSES),
    text=TEXT,
    value=JSON,
    times=st.lists(MOMENT, min_size=5, max_size=5),
)
def test_the_json_is_that_of_the_stored_request(
    make: Make, loop: Loop, status: str, text: str, value: Any, times: list[datetime]
) -> None:
    with transaction.atomic():
        row = Request.objects.get(pk=make().pk)
        fields = {f.attname: getattr(row, f.attname) for f in row._meta.concrete_fields}
        del fields["priority_rank"]
        fields.update(
            id=owned_id(row.creator_id), status=status, request_text=text,
            default_response=value,
            created_at=times[0], updated_at=times[1], timeout_at=times[2],
        )  # fmt: skip
        if status == states.COMPLETED:
            fields.update(response_by_id=loop.creator_id, response_at=times[3])
        if status in (states.COMPLETED, states.TIMEOUT):
            fields["response_data"] = value
        if status == states.CLAIMED:
            holder = {"claimed_by_id": loop.creator_id, "claimed_at": times[3]}
            fields.update(**holder, claim_expires_at=times[4])
        Request.objects.filter(loop=loop).exclude(pk=row.pk).delete()
        Request.objects.bulk_create([Request(**fields)])
        window = listing.ListParams(None, None, "created_at_desc", 5, 0)
        wanted = sorted(by_the_clock(), key=lambda row: (row.created_at, row.pk), reverse=True)
        found = listing.fetch(listing.scope_to_loop(loop.pk), window)
        assert [list(entry.items()) for entry in json.loads(encode(found.entries))] == [
            list(LISTED.represent_stored(request).items()) for request in wanted
        ]
        assert found.total == 2
        transaction.set_rollback(True)


COPIES = """
INSERT INTO reviews_request (id, loop_id, creator_id, processing_type, type, priority, request_text,
       timeout_seconds, response_type, response_config, default_response, platform, status,
       timeout_at, response_data, claimed_by_id, claimed_at, claim_expires_at, claim_count,
       broadcasted_to, notifications_sent, created_at, updated_at)
SELECT lpad(to_hex(n), 21, '0') || right(creator_id, 3), loop_id, creator_id, processing_type, type,
       (ARRAY['low', 'medium', 'high', 'critical'])[1 + n %% 4], request_text,
       timeout_seconds, response_type, response_config, default_response, platform, s.status,
       now() + interval '1 day' + n * interval '1 second',
       CASE s.status WHEN 'timeout' THEN default_response END,
       CASE s.status WHEN 'claimed' THEN creator_id END,
       CASE s.status WHEN 'claimed' THEN now() END,
       CASE s.status WHEN 'claimed' THEN now() + interval '1 day' END, 0, 1, 0,
       now() - n * interval '1 second', now()
  FROM reviews_request, generate_series(1, 8000) AS n, LATERAL (
       SELECT (ARRAY['pending', 'claimed', 'timeout', 'cancelled'])[1 + (n / 4) %% 4]) AS s (status)
 WHERE id = %s
"""


def rows_read(plan: dict[str, Any]) -> Iterator[float]:
    """How many rows each node of a plan took from the table of requests."""
    if plan.get("Relation Name") == "reviews_request":
        dropped = plan.get("Rows Removed by Filter", 0)
        yield (plan["Actual Rows"] + dropped) * plan["Actual Loops"]
    for child in plan.get("Plans", []):
        yield from rows_read(child)


def explain(how: str, scope: listing.Scope, window: listing.ListParams) -> list[Any]:
    """What EXPLAIN says of a page."""
    params: dict[str, Any] = {
        **scope.params,
        "status": window.status,
        "priority": window.priority,
        "rank": 2,
    }
    params["pairs"] = list(window.pairs)
    params |= {f"after_{name}": value for name, value in (window.cursor or {}).items()}
    sql = listing.build_statement(scope, window)
    used = {name: value for name, value in params.items() if f"%({name})s" in sql}
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {how} {sql}", used)
        rows: list[Any] = cursor.fetchall()
    return rows


def test_no_filter_and_no_order_reads_more_than_it_shows(make: Make, loop: Loop) -> None:
    first = make()
    with connection.cursor() as cursor:
        cursor.execute(COPIES, [first.pk])
        cursor.execute("ANALYZE reviews_request")
    scopes = (listing.scope_to_account(loop.creator_id), listing.scope_to_loop(loop.pk))
    statuses = (None, *states.STATUSES)
    for scope, status, priority, sort in itertools.product(
        scopes, statuses, (None, "high"), listing.ORDERS
    ):
        window = listing.ListParams(status, priority, sort, 10, 0)
        ((plan,),) = explain("(ANALYZE, TIMING OFF, FORMAT JSON)", scope, window)
        read = sum(rows_read(plan[0]["Plan"]))
        assert read <= 10 * 3, (scope.column, status, priority, sort, read)


def test_no_page_behind_a_cursor_reads_more_than_it_shows(make: Make, loop: Loop) -> None:
    first = make()
    with connection.cursor() as cursor:
        cursor.execute(COPIES, [first.pk])
        cursor.execute("ANALYZE reviews_request")
    scopes = (listing.scope_to_account(loop.creator_id), listing.scope_to_loop(loop.pk))
    statuses = (None, *states.STATUSES)
    for scope, status, priority, sort in itertools.product(
        scopes, statuses, (None, "high"), listing.ORDERS
    ):
        far = {
            "status": "pending",
            "priority_rank": 2,
            "created_at": first.created_at - timedelta(seconds=4_000),
            "id": first.pk,
        }
        window = listing.ListParams(status, priority, sort, 10, 0, far)
        ((plan,),) = explain("(ANALYZE, TIMING OFF, FORMAT JSON)", scope, window)
        read = sum(rows_read(plan[0]["Plan"]))
        assert read <= 11 * 7, (scope.column, status, priority, sort, read)


def test_metadata_reads_what_has_it(make: Make, loop: Loop) -> None:
    """No more requests than those with all pairs, beside those on the page."""
    first = make(metadata={"env": "test"})
    with connection.cursor() as cursor:
        cursor.execute(COPIES, [first.pk])
        cursor.execute(
            """UPDATE reviews_request SET metadata = json_build_object(
               'env', 'prod', 'order', (right(left(id, 21), 4) < '0003')::text)"""
        )
        cursor.execute("ANALYZE reviews_request")
    pairs = tuple(write_pairs(loop.creator_id, {"env": "prod", "order": "true"}))
    scopes = (
        listing.scope_to_account(loop.creator_id),
        listing.scope_to_loop(loop.pk),
        listing.scope_to_account_in_loop(loop.creator_id, loop.pk),
    )
    own = Request.objects.created_by(loop.creator_id)
    matching = keep_those_with(own, loop.creator_id, {"order": "true"}).count()
    assert 0 < matching < 10
    for scope, status, priority, sort in itertools.product(
        scopes, (None, "pending"), (None, "high"), listing.ORDERS
    ):
        window = listing.ListParams(status, priority, sort, 10, 0, None, pairs)
        ((plan,),) = explain("(ANALYZE, TIMING OFF, FORMAT JSON)", scope, window)
        assert sum(rows_read(plan[0]["Plan"])) <= matching * 2 + 10, (scope.column, status, sort)


@pytest.mark.parametrize("status", [None, *states.STATUSES])
def test_many_that_are_due_at_once_are_settled_in_batches(
    make: Make, loop: Loop, status: str | None, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    """Sweeps were dead for long: every list ends right, by a bounded number of statements."""
    first = make(callback_url="http://127.0.0.1:9/")
    copies(first, 1_000)
    Request.objects.update(timeout_at=Now() - timedelta(seconds=1))
    scope, window = (
        listing.scope_to_account(loop.creator_id),
        listing.ListParams(status, None, "status_asc", 9, 0),
    )
    batches = 1_001 // BATCH + 1
    # each batch has six statements; the last two have looked for claims
    with django_assert_num_queries(1 + 6 * batches + 2 + 1):
        found = listing.fetch(scope, window)
    assert found.total == (1_001 if status in (None, states.TIMEOUT) else 0)
    assert len(found.ids) == (9 if found.total else 0)
    assert all(entry["status"] == states.TIMEOUT for entry in found.entries)
    assert Delivery.objects.filter(event="request.timeout").count() == 1_001
    with django_assert_num_queries(1):
        again = listing.fetch(scope, window)
    assert (again.ids, again.total) == (found.ids, found.total)
