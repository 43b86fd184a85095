"""What people see when something is wrong, outside /v1."""

import re

import pytest
from django.conf import settings
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
            response = browser.get(path)
        assert response.status_code == 404
        assert "Not found" in words(response)


def test_an_unknown_host_is_refused(db: None) -> None:
    response = Client(headers={"host": "elsewhere.example"}).get("/join/")
    assert (response.status_code, "Unknown address" in words(response)) == (400, True)
    assert settings.SITE_URL in words(response)


def test_a_fault_of_ours_has_a_page(member: User) -> None:
    browser = signed_in(member)
    browser.raise_request_exception = False
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE reviews_request RENAME TO elsewhere")
    response = browser.get("/inbox/")
    assert response.status_code == 500
    assert "Something went wrong" in words(response)


@pytest.mark.parametrize("path", ["/", "/join/", "/accounts/login/", "/nothing"])
def test_the_policy_allows_no_inline_code(path: str, db: None) -> None:
    response = Client().get(path)
    policy = response["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert response["X-Frame-Options"] == "DENY"
    assert response["Referrer-Policy"] == "same-origin"
    source = response.content.decode()
    assert not any(inline in source for inline in ("<style", 'style="', "onclick"))
    assert all(" src=" in tag for tag in re.findall(r"<script[^>]*>", source))


@pytest.mark.django_db(transaction=True)
def test_a_database_out_of_reach_has_a_page(member: User) -> None:
    browser = signed_in(member)
    with out_of_reach():
        for path in ("/inbox/", "/join/ABCDEFGHJKMN", "/dashboard/deliveries/"):
            response = browser.get(path)
            assert response.status_code == 503
            assert "Temporarily unavailable" in words(response)
    assert browser.get("/inbox/").status_code == 200
