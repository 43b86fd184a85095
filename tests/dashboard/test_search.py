"""The search in the texts of an account's requests."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from loops.services import create_loop
from reviews import search, services
from reviews.models import Request
from tests.dashboard.many import copies
from tests.reviews.conftest import FIELDS, Make, acting

pytestmark = pytest.mark.django_db


def found(user: User, typed: str) -> list[str]:
    rows = search.find(Request.objects.all(), account_id=user.pk, typed=typed)
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


def test_a_word_of_very_many_requests(
    owner: User, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "RARE", 5)
    made = copies(make(), 20)
    for typed, count in (("copy7", 1), ("copy1", 11), ("refund", 21)):
        assert len(found(owner, typed)) == count
    assert found(owner, "copy19") == [made[19].pk]


def test_the_index_serves_it(owner: User, make: Make) -> None:
    copies(make(), 3000)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")  # a scan is cheap while words are few
    with CaptureQueriesContext(connection) as captured:
        search.find(Request.objects.all(), account_id=owner.pk, typed="copy77")
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {captured[0]['sql']}")
        plan = str(cursor.fetchall())
    assert "request_words" in plan
