"""The search in the texts of an account's requests."""

from importlib import import_module

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from loops.services import create_loop
from reviews import services
from reviews.models import Request
from reviews.queries import search
from tests.dashboard.many import copies
from tests.reviews.conftest import FIELDS, Make, acting

pytestmark = pytest.mark.django_db


def found(user: User, typed: str) -> list[str]:
    rows = search.find_newest(Request.objects.all(), account_id=user.pk, typed=typed, count=99)
    return sorted(request.pk for request in rows)


@pytest.mark.parametrize(
    "typed",
    [
        "refund", "REFUND", "ref", "4821", "order 4821", "4821 order", "order-4821", "#4821",
        "ada@example", "example.com", "Überweisung", "überw",
        "  refund  ", "'refund'", "refund & !",
    ],
)  # fmt: skip
def test_words_are_found_by_their_beginning(owner: User, make: Make, typed: str) -> None:
    request = make(request_text="Refund order-4821 (ada@example.com)? Überweisung #7.")
    make(request_text="Something else")
    assert found(owner, typed) == [request.pk]


@pytest.mark.parametrize("typed", ["It's", "It’s", "Itʼs"])
def test_apostrophes_are_alike(owner: User, make: Make, typed: str) -> None:
    rows = [make(request_text=f"{each} time") for each in ("It's", "It’s", "Itʼs")]
    assert found(owner, typed) == sorted(row.pk for row in rows)


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("Cafe\u0301 open", "Café"),
        ("Café open", "Cafe\u0301"),
        ("Order １２３", "123"),
        ("Order 123", "１２３"),
        ("Silben\u00adtrennung", "Silbentrennung"),
        ("Order 48\u201121", "48-21"),
    ],
)
def test_one_form_is_searched(owner: User, make: Make, text: str, typed: str) -> None:
    request = make(request_text=text)
    assert found(owner, typed) == [request.pk]


@pytest.mark.django_db(transaction=True)
def test_words_of_before_are_found_after_the_migration(owner: User, make: Make) -> None:
    request = make(request_text="Order １２３")
    plain = make(request_text="Order 123")
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE reviews_requestwords SET words = to_tsvector('simple', '１２３')"
            " || array_to_tsvector(ARRAY['=' || account_id::text]) WHERE request_id = %s",
            [request.pk],
        )
    assert found(owner, "123") == [plain.pk]
    migration = import_module("reviews.migrations.0015_search_in_one_form").Migration
    with connection.schema_editor(atomic=False) as editor:
        migration.operations[-1].database_forwards("reviews", editor, None, None)
    assert found(owner, "123") == sorted([request.pk, plain.pk])


@pytest.mark.parametrize(
    "typed", ["", " ", "efund", "refund nothing", "!!!", "„“", "\0", "':*", "a' | 'refund", "\\"]
)
def test_what_is_not_there_is_not_found(owner: User, make: Make, typed: str) -> None:
    make(request_text="Refund order 4821?")
    assert found(owner, typed) == []


def test_by_id_and_by_its_beginning(owner: User, make: Make) -> None:
    request = make()
    Request.objects.filter(pk=make().pk).update(created_at=request.created_at)
    assert found(owner, request.pk.upper()) == [request.pk]
    assert request.pk in found(owner, request.pk[:8])
    assert found(owner, request.pk[:7]) == []


def test_only_my_own(owner: User, outsider: User, make: Make) -> None:
    request = make(request_text=f"Refund {outsider.pk}")
    theirs = create_loop(owner_id=outsider.pk, name="Other", icon="x")
    other = services.create_request(
        loop_id=theirs.pk, account=acting(outsider), fields={**FIELDS, "request_text": "Refund"}
    )
    assert found(owner, "refund") == [request.pk]
    assert found(outsider, "refund") == [other.pk]
    assert found(outsider, request.pk) == []


@pytest.mark.parametrize("near", [1, 8, 99])
@pytest.mark.parametrize("rare", [0, 5, 99])
def test_every_way_finds_the_same(
    owner: User, make: Make, monkeypatch: pytest.MonkeyPatch, near: int, rare: int
) -> None:
    monkeypatch.setattr(search, "MAX_SCANNED", near)
    monkeypatch.setattr(search, "MAX_INDEXED", rare)
    first = make(request_text="Refund")
    made = [first, *copies(first, 40)]
    Request.objects.filter(pk__in=[row.pk for row in made[::3]]).update(priority="low")
    low = Request.objects.filter(priority="low", created_at__lt=made[2].created_at)
    for typed in ("refund", "copy1", "copy19", "copy3 refund", made[9].pk, made[9].pk[:23]):
        for count in (1, 4, 99):
            rows = search.find_newest(low, account_id=owner.pk, typed=typed, count=count)
            page = [row.pk for row in rows.order_by("-created_at", "-id")[:count]]
            assert page == expected(made[3::3], typed)[:count]


def expected(rows: list[Request], typed: str) -> list[str]:
    """Of rows that are sorted, by a look at every text."""
    return [
        row.pk
        for row in rows
        if row.pk.startswith(typed)
        or all(
            any(word.startswith(each) for word in row.request_text.lower().split())
            for each in typed.split()
        )
    ]


def test_the_index_serves_rare_words(owner: User, make: Make) -> None:
    copies(make(), 3000)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")  # a scan is cheap while words are few
    with CaptureQueriesContext(connection) as captured:
        found(owner, "copy77")
    assert len(captured) == 3
    plan = explained(captured[1]["sql"])
    assert "Index Scan on request_words" in plan
    assert "never executed" not in plan


def test_the_index_is_left_alone_where_all_are_near(owner: User, make: Make) -> None:
    copies(make(), 200)
    with CaptureQueriesContext(connection) as captured:
        assert len(found(owner, "copy77")) == 1
    assert len(captured) == 3
    (scan,) = [
        line
        for line in explained(captured[1]["sql"]).splitlines()
        if " on reviews_requestwords" in line
    ]
    assert "never executed" in scan


def explained(sql: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {sql}")
        return "\n".join(line for (line,) in cursor.fetchall())


def test_common_words_need_no_index(owner: User, make: Make) -> None:
    copies(make(), 200)
    with CaptureQueriesContext(connection) as captured:
        assert len(found(owner, "refund")) == 99
    assert len(captured) == 2
    assert "LIMIT 1000" in captured[0]["sql"]
