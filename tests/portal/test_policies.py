"""The question of several people, on the reviewers' pages."""

import re
from collections import Counter

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from loops.models import Loop
from loops.services import join_loop
from portal.inbox_filter import InboxFilter
from portal.polling import read_inbox_version
from reviews import services
from reviews.models import Answer, Request
from reviews.policy import Policy
from reviews.queries.open_questions import read_waiting
from tests.conftest import account
from tests.portal import signed_in, words
from tests.portal.test_queue import visited
from tests.reviews.conftest import Make

pytestmark = pytest.mark.django_db

TWO = Policy("unanimous", 2).store()
# NOT IN as PostgreSQL explains it, up to 17 and from 18
HASHED = re.compile(r"NOT \((hashed SubPlan|ANY \(\([\w.]*id\)::text = \(\(hashed SubPlan)")


@pytest.fixture
def third(loop: Loop) -> User:
    person = account("third")
    join_loop(user=person, code=loop.invite_code)
    return person


def page(user: User, request: Request) -> str:
    return words(signed_in(user).get(f"/inbox/{request.pk}/"))


def offers_claim(user: User, request: Request) -> bool:
    return "/claim/" in signed_in(user).get(f"/inbox/{request.pk}/").content.decode()


def post(user: User, request: Request, value: str) -> int:
    answer = {"answer": value}
    return signed_in(user).post(f"/inbox/{request.pk}/answer/", answer).status_code


def test_from_the_first_answer_to_the_outcome(
    owner: User, member: User, third: User, make: Make
) -> None:
    request = make(policy=TWO)
    assert "2 people have to give the same answer. 0 of 2 have answered." in page(member, request)
    assert not offers_claim(member, request)
    assert post(member, request, "no") == 303
    assert "If they don’t decide in time: no" in page(member, request)
    assert "1 of 2 has answered. You answered: no You can send another answer" in page(
        member, request
    )
    assert "You answered" not in page(owner, request)
    assert post(member, request, "yes") == 303
    assert post(owner, request, "yes") == 303
    shown = page(third, request)
    assert "This question is decided" in shown
    assert "Their answers have decided. Member, just now yes Owner, just now yes" in shown


def test_a_dissent(owner: User, member: User, make: Make) -> None:
    request = make(policy=TWO)
    assert post(member, request, "yes") == 303
    assert post(owner, request, "no") == 303
    shown = page(member, request)
    assert "This question ended without an answer" in shown
    assert "They did not agree, so the default answer was used." in shown
    done = words(signed_in(member).get(f"/inbox/{request.pk}/done/"))
    assert "yes" in done


def test_who_is_not_asked(owner: User, member: User, make: Make) -> None:
    request = make(policy=Policy("first", 1, exclude_creator=True).store())
    assert offers_claim(member, request)
    shown = page(owner, request)
    assert "Others are asked. You can’t answer this question." in shown
    assert not offers_claim(owner, request)
    assert post(owner, request, "yes") == 404
    assert signed_in(owner).post(f"/inbox/{request.pk}/claim/").status_code == 404
    assert post(member, request, "yes") == 303


def test_the_inbox_lists_what_is_open_for_the_person(
    owner: User, member: User, third: User, make: Make,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:  # fmt: skip
    everybodys = make()
    several = make(policy=TWO)
    others = make(policy=Policy("first", 1, exclude_creator=True).store())
    assert set(read_waiting(owner.pk, 9).ids) == {everybodys.pk, several.pk}
    assert read_waiting(member.pk, 9).total == 3
    post(member, several, "yes")
    waiting = read_waiting(member.pk, 9)
    assert (set(waiting.ids), waiting.total) == ({everybodys.pk, others.pk}, 2)
    assert read_waiting(third.pk, 9).total == 3
    inbox = signed_in(member).get("/inbox/")
    assert len(inbox.context["rows"]) == inbox.context["page"].paginator.count == 2
    browser = signed_in(member)
    with django_assert_num_queries(6):
        browser.get("/inbox/")


def test_who_leaves_ends_what_needs_them(owner: User, member: User, loop: Loop, make: Make) -> None:
    request = make(policy=TWO)
    services.remove_member(loop_id=loop.pk, account_id=owner.pk, member_id=member.pk)
    shown = page(owner, request)
    assert "Too few people were left to answer, so the default answer was used." in shown
    on_dashboard = words(signed_in(owner).get(f"/dashboard/requests/{request.pk}/"))
    assert "Ended because too few people were left" in on_dashboard
    assert "Timed out The default" not in on_dashboard


def test_the_creator_sees_them_in_the_dashboard_when_it_has_ended(
    owner: User, member: User, make: Make
) -> None:
    request = make(policy=TWO)
    post(member, request, "yes")
    path = f"/dashboard/requests/{request.pk}/"
    open_page = words(signed_in(owner).get(path))
    assert "2 people have to give the same answer. 1 of 2 has answered." in open_page
    assert "Answered by" not in open_page
    post(owner, request, "no")
    ended = words(signed_in(owner).get(path))
    assert "They did not agree" in ended
    assert "Member, just now yes Owner, just now no" in ended
    assert "Ended without agreement" in ended


def test_nobody_learns_who_has_answered_before_the_end(
    owner: User, member: User, loop: Loop, make: Make
) -> None:
    request = make(policy=TWO)
    browser = signed_in(owner)
    pages = (
        f"/dashboard/loops/{loop.pk}/",
        "/dashboard/requests/?person=mem",
        f"/dashboard/requests/{request.pk}/",
    )
    post(member, request, "yes")
    after = [words(browser.get(path)) for path in pages]
    assert "0 – – Remove" in after[0]
    assert "Should we refund" not in after[1]
    assert "1 of 2 has answered" in after[2]
    assert '"answers": [' not in after[2]
    post(owner, request, "yes")
    assert "0 – – Remove" not in words(browser.get(pages[0]))
    assert "Should we refund" in words(browser.get(pages[1]))


@pytest.mark.parametrize("typed", ["", "order"])
def test_the_questions_that_a_person_has_answered_cost_little(
    owner: User, member: User, third: User, make: Make, typed: str
) -> None:
    """What is hidden is read once and looked up by hash for each row of the queue."""
    copy(make(policy=TWO), member, 300)
    with CaptureQueriesContext(connection) as captured:
        read_inbox_version(member.pk, None)
        read_waiting(member.pk, 30, InboxFilter(q=typed))
    plans = [explain(each["sql"]) for each in captured if "AS hidden" in each["sql"]]
    assert len(plans) == 2
    for plan, tables in plans:
        assert HASHED.search(plan), plan
        assert tables["reviews_answer"] <= 2 * 301, plan
        assert tables["reviews_request"] <= 5 * 301, plan
    assert read_waiting(member.pk, 30).ids == []
    assert read_waiting(third.pk, 999).total == 301


def copy(request: Request, person: User, count: int) -> None:
    """Has the person answer the request, and adds so many like it."""
    services.answer_request(request=request, reviewer_id=person.pk, answer="yes")
    for model, ids in ((Request, ["id"]), (Answer, ["id", "request_id"])):
        columns = [
            str(field.column)
            for field in model._meta.concrete_fields
            if field.column not in ("id", "request_id", "priority_rank")
        ]
        following = [
            f"left({each}, 16) || lpad(to_hex(g), 4, '0') || right({each}, 4)" for each in ids
        ]
        with connection.cursor() as cursor:
            cursor.execute(
                f"INSERT INTO {model._meta.db_table} ({', '.join(ids + columns)})"
                f" SELECT {', '.join(following + columns)} FROM {model._meta.db_table},"
                f" generate_series(1, {count}) AS g"
            )
            cursor.execute(f"ANALYZE {model._meta.db_table}")


def explain(sql: str) -> tuple[str, Counter[str]]:
    """The plan, and how many rows of each table it reads."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF) {sql}")
        text = "\n".join(row for (row,) in cursor.fetchall())
        cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {sql}")
        ((plan,),) = cursor.fetchall()
    tables: Counter[str] = Counter()
    for name, rows in visited(plan[0]["Plan"]):
        tables[name] += int(rows)
    return text, tables
