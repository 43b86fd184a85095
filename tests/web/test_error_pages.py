"""What people see when something is wrong, outside /v1."""

import re

import pytest
from django.db import connection
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from tests.outage import out_of_reach
from tests.portal import signed_in, words

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", ["/nothing", "/nothing/%00%ff", "/join/a/b", "/inbox/x/y/", "/é"])
def test_nothing_is_there(
    path: str, member: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for browser in (Client(), signed_in(member)):
        with django_assert_num_queries(0):
            answer = browser.get(path)
        assert answer.status_code == 404
        assert "Not found" in words(answer)


def test_an_unknown_host_is_refused(db: None) -> None:
    answer = Client(headers={"host": "elsewhere.example"}).get("/join/")
    assert (answer.status_code, "Bad request" in words(answer)) == (400, True)


def test_a_fault_of_ours_has_a_page(member: User) -> None:
    browser = signed_in(member)
    browser.raise_request_exception = False
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE reviews_request RENAME TO elsewhere")
    answer = browser.get("/inbox/")
    assert answer.status_code == 500
    assert "Something went wrong" in words(answer)


@pytest.mark.parametrize("path", ["/", "/join/", "/accounts/login/", "/nothing"])
def test_the_policy_allows_no_inline_code(path: str, db: None) -> None:
    answer = Client().get(path)
    policy = answer["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["Referrer-Policy"] == "same-origin"
    source = answer.content.decode()
    assert not any(inline in source for inline in ("<style", 'style="', "onclick"))
    assert all(" src=" in tag for tag in re.findall(r"<script[^>]*>", source))


@pytest.mark.django_db(transaction=True)
def test_a_database_out_of_reach_has_a_page(member: User) -> None:
    browser = signed_in(member)
    with out_of_reach():
        for path in ("/inbox/", "/join/ABCDEFGHJKMN", "/dashboard/deliveries/"):
            answer = browser.get(path)
            assert answer.status_code == 503
            assert "Temporarily unavailable" in words(answer)
    assert browser.get("/inbox/").status_code == 200
