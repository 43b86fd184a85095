"""Large answers of many people: exports, events and leaving hold a few requests at a time."""

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from dashboard import export
from dashboard.request_list import Filters
from loops.models import Loop
from reviews import person_export, sizes, tasks
from reviews.models import Request, build_answer
from reviews.queries import decisions
from tests.reviews.conftest import Make
from tests.reviews.test_leaving import leave
from tests.reviews.test_policies import loop as loop
from tests.reviews.test_policies import people, policy
from webhooks.models import LoggedEvent

pytestmark = pytest.mark.django_db
LARGE = 250_000  # characters; the body of a call has at most 262,144 bytes
MOST = 15  # answers
APPROVAL = {
    "response_type": "approval",
    "response_config": {"proposal": {"name": "reply", "arguments": {"text": "x"}}},
    "default_response": {"action": "reject"},
}


def make_large(make: Make, given_by: list[User]) -> Request:
    """An open request with as much in each answer as anybody can send."""
    request = make(**APPROVAL, policy=policy("unanimous", len(given_by) + 1))
    data = {"action": "edit", "edited": ["text"], "arguments": {"text": "y" * LARGE}}
    at = request.created_at
    for person in given_by:
        build_answer(request, person_id=person.pk, data=data, comment="z" * 2000, at=at).save(
            force_insert=True
        )
    Request.objects.filter(pk=request.pk).update(answers_received=len(given_by))
    return request


def count(statements: CaptureQueriesContext, words: str) -> int:
    return sum(words in each["sql"] for each in statements.captured_queries)


@pytest.fixture
def given_by(loop: Loop) -> list[User]:
    """Those who answer; one more member does not."""
    return people(loop, MOST)[: MOST - 1]


@pytest.fixture
def large(make: Make, given_by: list[User]) -> list[Request]:
    return [make_large(make, given_by) for _ in range(3)]


class TestSplitting:
    def test_small_ones_are_one_part(self, make: Make) -> None:
        ids = [make().pk for _ in range(3)][::-1]
        assert list(sizes.split(ids)) == [ids]
        assert list(sizes.split([])) == []

    def test_each_part_is_full(self) -> None:
        part = sizes.PART
        sized = [("a", part - 1), ("b", 1), ("c", 1), ("d", part + 1), ("e", part)]
        assert list(sizes.split_sized(sized)) == [["a", "b"], ["c"], ["d"], ["e"]]

    def test_a_removed_one(self, make: Make) -> None:
        request = make()
        assert list(sizes.split([request.pk, "gone"])) == [[request.pk, "gone"]]

    @pytest.mark.parametrize(
        "field", ["request_text", "context", "response_config", "response_data", "feedback"]
    )
    def test_everything_large_counts(self, make: Make, field: str) -> None:
        ids = [make().pk for _ in range(2)]
        text = "x" * sizes.PART
        with connection.cursor() as cursor:
            cursor.execute("SET session_replication_role = replica")  # whatever the status
            if field == "feedback":
                cursor.execute(
                    "INSERT INTO reviews_feedback (request_id, account_id, body)"
                    " SELECT id, creator_id, to_json(%s::text) FROM reviews_request",
                    [text],
                )
            elif field == "response_data":
                cursor.execute(
                    "UPDATE reviews_request SET status = 'timeout',"
                    " response_data = to_json(%s::text)",
                    [text],
                )
            else:
                value = "%s::text" if field == "request_text" else "to_json(%s::text)"
                cursor.execute(f"UPDATE reviews_request SET {field} = {value}", [text])
            cursor.execute("SET session_replication_role = origin")
        assert list(sizes.split(ids)) == [[ids[0]], [ids[1]]]
        found = Request.objects.order_by("pk").values_list("pk", sizes.SIZE)
        assert [len(part) for part in sizes.split_sized(found)] == [1, 1]


def test_an_export_has_parts(owner: User, large: list[Request]) -> None:
    Request.objects.update(status="cancelled")  # so that the answers show
    filters = Filters(account_id=owner.pk)
    for chosen in (export.JSON, export.CSV):
        parts = list(export.write(filters, chosen))
        assert len(parts) == len(large) + 1
        assert max(map(len, parts)) < sizes.PART
    whole = "".join(export.write(filters, export.JSON))
    assert len(whole) > len(large) * (MOST - 1) * LARGE


def test_so_has_that_of_decisions(loop: Loop, large: list[Request]) -> None:
    Request.objects.update(timeout_at=Now() - timedelta(seconds=1))
    parts = list(decisions.write_lines(decisions.Span(loop.pk, loop.creator_id)))
    newest_first = sorted((each.pk for each in large), reverse=True)
    assert [json.loads(part)["id"] for part in parts] == newest_first


def test_so_has_that_of_a_person(owner: User, large: list[Request]) -> None:
    Request.objects.update(status="cancelled")
    with CaptureQueriesContext(connection) as statements:
        whole = sum(map(len, person_export.export(owner)))
    assert whole > len(large) * (MOST - 1) * LARGE
    assert count(statements, "WITH ORDINALITY AS chosen") == len(large)


def test_events_are_written_in_parts(large: list[Request]) -> None:
    Request.objects.update(timeout_at=Now() - timedelta(seconds=1))
    with CaptureQueriesContext(connection) as statements:
        tasks.settle_overdue()
    assert count(statements, "INSERT INTO webhooks_loggedevent") == len(large)
    assert LoggedEvent.objects.count() == len(large)


def test_whoever_leaves_reads_answers_in_parts(
    loop: Loop, large: list[Request], given_by: list[User]
) -> None:
    silent = User.objects.get(email="person14@example.com")
    with CaptureQueriesContext(connection) as statements:
        leave(loop, silent)
    deciding = count(statements, 'FROM "reviews_answer" INNER JOIN "accounts_user"')
    assert deciding == 2 * len(large)  # to decide, and for the event
    assert set(Request.objects.values_list("outcome", flat=True)) == {"unreachable"}


def test_small_events_are_one_statement(make: Make, given_by: list[User]) -> None:
    for _ in range(3):
        make(policy=policy("unanimous", 2))
    Request.objects.update(timeout_at=Now() - timedelta(seconds=1))
    with CaptureQueriesContext(connection) as statements:
        tasks.settle_overdue()
    assert count(statements, "INSERT INTO webhooks_loggedevent") == 1
