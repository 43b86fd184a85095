"""Requests found by the person who answered them, or who was asked."""

import json
from typing import Any

import pytest
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from dashboard import export, request_list
from loops.models import Loop
from loops.services import create_loop, join_loop
from reviews import services
from reviews.models import Request
from reviews.policy import Policy
from reviews.queries import people
from tests.conftest import account
from tests.dashboard.many import older
from tests.dashboard.test_export import download
from tests.portal import signed_in, words
from tests.reviews.conftest import FIELDS, Make, acting
from tests.reviews.test_policies import people as people_of

pytestmark = pytest.mark.django_db
LIST = "/dashboard/requests/"


def found(owner: User, **query: str) -> list[str]:
    response = signed_in(owner).get(LIST, query)
    assert response.status_code == 200
    return [row.pk for row in response.context["window"].rows]


def answered(request: Request, who: User) -> Request:
    services.answer_request(request=request, reviewer_id=who.pk, answer="yes")
    return services.read_request(request.pk)


@pytest.fixture
def loop(owner: User, member: User) -> Loop:
    made: Loop = create_loop(owner_id=owner.pk, name="Desk", icon="star")
    join_loop(user=member, code=made.invite_code)
    return made


def test_by_the_beginning_of_a_name_or_an_address(
    owner: User, member: User, loop: Loop, make: Make
) -> None:
    User.objects.filter(pk=member.pk).update(name="Émile van Dyk")
    theirs, mine = answered(make(), member), answered(make(), owner)
    make()
    for typed in ("member@example.com", "MEMBER@", "m", "émile", "Van Dyk", " dyk"):
        assert found(owner, person=typed) == [theirs.pk], typed
    for typed in ("ember", "member@example.community", "%", "_ember", "yk"):
        assert found(owner, person=typed) == [], typed
    assert found(owner, person="owner") == [mine.pk]


def test_together_with_the_other_filters(owner: User, member: User, loop: Loop, make: Make) -> None:
    high = answered(make(request_text="Refund the cup?"), member)
    low = answered(make(request_text="Refund the plate?", priority="low"), member)
    assert found(owner, person="member") == [low.pk, high.pk]
    assert found(owner, person="member", priority="low") == [low.pk]
    assert found(owner, person="member", q="cup") == [high.pk]
    assert found(owner, person="member", status="pending") == []
    assert found(owner, person="member", since="2999-01-01") == []


def test_who_was_asked(owner: User, member: User, loop: Loop, make: Make) -> None:
    asked = make()
    other = create_loop(owner_id=owner.pk, name="Empty", icon="star")
    older(asked, 1, loop_id=other.pk)
    alone = Request.objects.get(loop=other)
    assert found(owner, person="member", role="asked") == [asked.pk]
    assert found(owner, person="owner", role="asked") == sorted([asked.pk, alone.pk], reverse=True)
    assert found(owner, person="member") == []


def test_nobody_elses_people(owner: User, member: User, loop: Loop, make: Make) -> None:
    answered(make(), member)
    stranger = account("stranger")
    create_loop(owner_id=stranger.pk, name="Theirs", icon="star")
    assert found(stranger, person="member") == []
    assert found(stranger, person="member", role="asked") == []
    assert signed_in(owner).get(LIST, {"role": "x"}).status_code == 422


def test_it_reads_the_indexes_however_many_there_are(
    owner: User, member: User, loop: Loop, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = answered(make(), member)
    older(done, 300, response_by_id=owner.pk)
    older(done, 2)
    stranger = account("stranger")
    theirs = create_loop(owner_id=stranger.pk, name="Theirs", icon="star")
    asked = services.create_request(loop_id=theirs.pk, account=acting(stranger), fields=FIELDS)
    older(answered(asked, stranger), 900)
    statements: list[tuple[str, Any]] = []
    fetch = people._fetch

    def note(sql: str, params: Any) -> list[str]:
        statements.append((sql, params))
        return fetch(sql, params)

    monkeypatch.setattr(people, "_fetch", note)
    assert len(found(owner, person="member")) == 3
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        for sql, params in statements:
            cursor.execute(f"EXPLAIN {sql}", params)
            plan = "\n".join(row[0] for row in cursor.fetchall())
            assert "answer_account_person" in plan, plan


def test_pages_and_statements(
    owner: User,
    member: User,
    loop: Loop,
    make: Make,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    older(answered(make(), member), 64)
    browser = signed_in(owner)
    seen: list[str] = []
    path = f"{LIST}?person=mem"
    for _ in range(3):
        # session, person, loops, settling, people, ids, rows
        with django_assert_num_queries(7):
            window = browser.get(path).context["window"]
        seen += [row.pk for row in window.rows]
        path = f"{LIST}?person=mem&before={window.older}"
    assert (len(seen), len(set(seen)), window.older) == (65, 65, None)


@pytest.mark.parametrize("role", ["", "asked"])
def test_words_are_searched_for_to_the_end(
    owner: User, member: User, loop: Loop, make: Make, monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    """Each page searches so many of the person's requests, and leads to those before."""
    monkeypatch.setattr(request_list, "MAX_OF_A_PERSON", 3)
    cups = {answered(make(request_text="Refund the cup?"), member).pk for _ in range(2)}
    for _ in range(7):
        answered(make(request_text="Refund the plate?"), member)
    chosen = {"person": "member", "q": "cup", "role": role}
    browser = signed_in(owner)
    page = browser.get(LIST, chosen)
    assert "No matching requests so far" in words(page)
    seen: list[str] = []
    while older_than := page.context["window"].older:
        page = browser.get(LIST, {**chosen, "before": older_than})
        seen += [row.pk for row in page.context["window"].rows]
    assert set(seen) == cups
    assert len(seen) == 2
    assert {row["id"] for row in json.loads(download(owner, "json", **chosen))} == cups


@pytest.mark.parametrize("chosen", [{}, {"q": "refund"}], ids=["person", "words"])
def test_answers_of_several_count_once(
    owner: User, monkeypatch: pytest.MonkeyPatch, chosen: dict[str, str]
) -> None:
    loop = create_loop(owner_id=owner.pk, name="Shared", icon="star")
    asked = several(loop, owner, 10)
    for module, name in ((request_list, "PER_PAGE"), (export, "PAGE")):
        monkeypatch.setattr(module, name, 3)
    monkeypatch.setattr(request_list, "MAX_OF_A_PERSON", 3)
    browser = signed_in(owner)
    seen: list[str] = []
    before: dict[str, str] | None = {}
    while before is not None:
        page = browser.get(LIST, {"person": "person", **chosen, **before})
        window = page.context["window"]
        seen += [row.pk for row in window.rows]
        before = {"before": window.older} if window.older else None
    assert seen == asked
    rows = json.loads(download(owner, "json", person="person", **chosen))
    assert [row["id"] for row in rows] == asked


def several(loop: Loop, owner: User, count: int) -> list[str]:
    """Ids of so many requests, the newest first, each answered by the same two people."""
    both = people_of(loop, 2)
    policy = Policy("unanimous", 2, exclude_creator=True).store()
    made: list[str] = []
    for _ in range(count):
        request = services.create_request(
            loop_id=loop.pk, account=acting(owner), fields={**FIELDS, "policy": policy}
        )
        for person in both:
            answered(services.read_request(request.pk), person)
        made.insert(0, request.pk)
    return made


def test_nobody_found(owner: User, loop: Loop, make: Make) -> None:
    make()
    for chosen in (
        {"person": "zoe"},
        {"person": "zoe", "q": "cup"},
        {"person": "member", "q": "cup"},
        {"person": "zoe", "q": "cup", "role": "asked"},
    ):
        assert "No matching requests" in words(signed_in(owner).get(LIST, chosen)), chosen
        assert json.loads(download(owner, "json", **chosen)) == []


def test_an_address_is_found_in_any_form(owner: User, loop: Loop, make: Make) -> None:
    reader = account("ada")
    User.objects.filter(pk=reader.pk).update(email="ada@xn--bcher-kva.example")
    join_loop(user=reader, code=loop.invite_code)
    request = answered(make(), reader)
    for typed in ("ada@bücher.example", "ada@bu\u0308cher.example\u200b", "ADA@XN--bcher"):
        assert found(owner, person=typed) == [request.pk]
