"""A lock that is held for long: 503 in time, and other tables go on, on the running service."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
import requests
from django.db import connection
from django.test import Client

from accounts.models import User
from config import settings as defaults
from loops.models import Loop
from reviews.models import Request
from tests.conftest import key_of
from tests.portal import signed_in

pytestmark = pytest.mark.django_db(transaction=True)
IN_TIME = 10.0  # seconds
CALLERS = 12  # three for each thread of the service
QUESTION = {
    "processing_type": "deferred", "type": "markdown", "priority": "high", "request_text": "Made?",
    "response_type": "text", "response_config": {}, "default_response": "", "platform": "api",
}  # fmt: skip


@contextmanager
def locked(table: str, mode: str = "ACCESS EXCLUSIVE") -> Iterator[None]:
    other = connection.copy()
    other.set_autocommit(False)
    try:
        with other.cursor() as cursor:
            cursor.execute("SET idle_in_transaction_session_timeout = 0")
            cursor.execute(f"LOCK TABLE {table} IN {mode} MODE")
        yield
    finally:
        other.rollback()
        other.close()


class Caller:
    """Sends calls to the running service, and measures how long they took."""

    def __init__(self, site: str, key: str, user: User) -> None:
        self.site = site
        self.key = {"Authorization": f"Bearer {key}"}
        self.browser = signed_in(user)
        self.cookies = {name: cookie.value for name, cookie in self.browser.cookies.items()}
        self.slowest = 0.0

    def send(self, method: str, path: str, **options: Any) -> requests.Response:
        begun = time.monotonic()
        response = requests.request(
            method, self.site + path, timeout=30, allow_redirects=False, **options
        )
        self.slowest = max(self.slowest, time.monotonic() - begun)
        return response

    def api(self, method: str, path: str, body: object = None) -> requests.Response:
        return self.send(method, f"/v1/api{path}", headers=self.key, json=body)

    def page(self, path: str) -> requests.Response:
        return self.send("GET", path, cookies=self.cookies)


@pytest.fixture
def caller(service: str, owner: User, member: User, loop: Loop) -> Caller:
    return Caller(service, key_of(owner, hourly_limit=100_000), member)


def test_calls_get_503_in_time_and_other_tables_go_on(caller: Caller, loop: Loop) -> None:
    made = caller.api("POST", f"/loops/{loop.pk}/requests", QUESTION)
    known = made.json()["data"]["request_id"]
    blocked: list[Callable[[], requests.Response]] = [
        lambda: caller.api("POST", f"/loops/{loop.pk}/requests", QUESTION),
        lambda: caller.api("GET", f"/requests/{known}"),
        lambda: caller.api("GET", "/requests?limit=5"),
        lambda: caller.api("DELETE", f"/requests/{known}"),
        lambda: caller.page("/inbox/"),
        lambda: caller.page(f"/inbox/{known}/"),
    ]
    over, answers, others = threading.Event(), list[requests.Response](), list[float]()

    def insist(number: int) -> None:
        while not over.is_set():
            answers.append(blocked[number % len(blocked)]())

    with locked("reviews_request"), ThreadPoolExecutor(CALLERS) as pool:
        working = [pool.submit(insist, number) for number in range(CALLERS)]
        try:
            for _ in range(20):
                begun = time.monotonic()
                assert caller.api("GET", f"/loops/{loop.pk}/members").status_code == 200
                others.append(time.monotonic() - begun)
        finally:
            over.set()
        for each in working:
            each.result()

    assert {answer.status_code for answer in answers} == {503}
    assert {answer.headers["Retry-After"] for answer in answers} == {"2"}
    assert caller.slowest < IN_TIME
    in_api = [answer for answer in answers if answer.headers["Content-Type"] == "application/json"]
    assert {answer.json()["msg"] for answer in in_api} == {"Service temporarily unavailable"}
    pages = [answer for answer in answers if answer not in in_api]
    assert pages
    assert all("Temporarily unavailable" in page.text for page in pages)
    print(f"{len(answers)} refused, slowest {caller.slowest:.2f} s; others {sorted(others)[-4:]}")
    assert list(Request.objects.values_list("pk", "status")) == [(known, "pending")]
    assert caller.api("DELETE", f"/requests/{known}").status_code == 200


@pytest.mark.parametrize(
    "table", ["accounts_apikey", "accounts_usage", "loops_loop", "reviews_counterchange"]
)
def test_every_lock_ends_in_503(caller: Caller, loop: Loop, table: str) -> None:
    with locked(table):
        answer = caller.api("POST", f"/loops/{loop.pk}/requests", QUESTION)
    assert answer.status_code == 503
    assert caller.slowest < IN_TIME
    assert not Request.objects.exists()
    assert caller.api("POST", f"/loops/{loop.pk}/requests", QUESTION).status_code == 201


@pytest.mark.parametrize("table", ["django_session", "accounts_user", "loops_membership"])
def test_pages_behind_a_lock_are_503_too(caller: Caller, table: str) -> None:
    with locked(table):
        answer = caller.page("/inbox/")
    assert answer.status_code == 503
    assert "Temporarily unavailable" in answer.text
    assert caller.slowest < IN_TIME
    assert caller.page("/inbox/").status_code == 200


def test_a_session_that_cannot_be_saved_is_503(member: User) -> None:
    browser = Client(raise_request_exception=False)
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '100ms'")
    with locked("django_session", "SHARE"):  # reads go on
        answer = browser.post(
            "/accounts/login/", {"login": member.email, "password": "correct horse battery"}
        )
    assert answer.status_code == 503
    assert "Temporarily unavailable" in answer.content.decode()
    assert "correct horse battery" not in answer.content.decode()
    connection.close()


def test_a_form_that_did_not_arrive_can_be_sent_again(
    caller: Caller, loop: Loop, owner: User
) -> None:
    browser = signed_in(owner)
    path = "/dashboard/loops/new/"
    page = browser.get(path)
    assert page.status_code == 200
    sent = {"name": "Kept & <safe>", "icon": "star"}
    browser.raise_request_exception = False
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '100ms'")
    with locked("loops_loop"):
        answer = browser.post(path, {**page.context["form"].initial, **sent})
    assert answer.status_code == 503
    source = answer.content.decode()
    assert f'action="{path}"' in source
    assert 'name="name" value="Kept &amp; &lt;safe&gt;"' in source
    assert "Send again" in source
    connection.close()


def test_a_form_with_secrets_is_not_repeated(member: User) -> None:
    browser = Client(raise_request_exception=False)
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '100ms'")
    with locked("accounts_user"):
        answer = browser.post(
            "/accounts/login/", {"login": member.email, "password": "correct horse battery"}
        )
    assert answer.status_code == 503
    assert "correct horse battery" not in answer.content.decode()
    connection.close()


def test_the_limits_of_a_call_leave_room_for_its_response() -> None:
    assert defaults.WEB_LOCK_SECONDS < defaults.WEB_DATABASE_SECONDS < IN_TIME
