"""Every call has an id, which its log lines, deliveries and notifications carry."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from config.logging import configure_logging
from loops.models import Loop
from reviews import tasks
from reviews.models import Notification, Request
from tests.api.bodies import question
from tests.api.moments import let_pass
from tests.conftest import Api
from tests.portal import signed_in
from tests.webhooks.conftest import attempt_and_record, claim
from web import call_ids
from web.observing import simplify
from webhooks.models import Delivery

pytestmark = pytest.mark.django_db
CALL = "call-7.of/the_proxy"


@pytest.fixture
def lines(settings: Settings) -> Iterator[io.StringIO]:
    """What is logged as JSON."""
    settings.ACCESS_LOG = True
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    form = configure_logging("INFO", "json")["formatters"]["lines"]
    handler.setFormatter(form.pop("()")(**form))
    logging.getLogger().addHandler(handler)
    yield stream
    logging.getLogger().removeHandler(handler)


def read(lines: io.StringIO, event: str) -> list[dict[str, Any]]:
    entries = [json.loads(line) for line in lines.getvalue().splitlines()]
    return [entry for entry in entries if entry["event"] == event]


@pytest.mark.parametrize("path", ["/v1/test", "/accounts/login/", "/healthz", "/no/such/page"])
def test_each_response_names_its_call(client: Client, path: str) -> None:
    ids = {client.get(path).headers["X-Request-Id"] for _ in range(3)}
    assert len(ids) == 3
    assert all(len(each) == 16 for each in ids)
    assert client.get(path, headers={"X-Request-Id": CALL}).headers["X-Request-Id"] == CALL
    assert call_ids.current() is None


@pytest.mark.parametrize("given", ["", "two words", "a\nb", "x" * 65, "ü", "<script>"])
def test_a_strange_id_is_replaced(client: Client, given: str) -> None:
    answer = client.get("/v1/test", headers={"X-Request-Id": given})
    assert len(answer.headers["X-Request-Id"]) == 16


def test_from_the_api_to_the_notifications(
    loop: Loop, member: User, owner_key: str, api: type[Api], settings: Settings
) -> None:
    path = f"/v1/api/loops/{loop.pk}/requests"
    api(owner_key).post(path, question(), **{"X-Request-Id": CALL})
    assert {row.call_id for row in Notification.objects.all()} == {CALL}
    assert Notification.objects.exists()


def test_from_a_page_to_the_delivery_and_the_log_of_the_worker(
    loop: Loop, member: User, owner_key: str, api: type[Api], lines: io.StringIO
) -> None:
    url = "http://127.0.0.1:9/nobody"
    api(owner_key).post(f"/v1/api/loops/{loop.pk}/requests", question(callback_url=url))
    request = Request.objects.get()
    answered = signed_in(member).post(
        f"/inbox/{request.pk}/answer/", {"answer": "yes"}, headers={"X-Request-Id": CALL}
    )
    assert answered.status_code == 303
    assert Delivery.objects.get().call_id == CALL
    (item,) = claim(1)
    attempt_and_record(item)
    (line,) = read(lines, "webhook.attempted")
    assert line["request_id"] == CALL
    assert line["delivery"] == item.content.delivery_id
    (page,) = [line for line in read(lines, "call.ended") if line["request_id"] == CALL]
    assert page["route"] == "/inbox/<request_id>/answer/"


def test_what_background_work_does_has_no_call(
    loop: Loop, owner_key: str, api: type[Api], lines: io.StringIO
) -> None:
    path = f"/v1/api/loops/{loop.pk}/requests"
    api(owner_key).post(path, question(callback_url="http://127.0.0.1:9/", timeout_seconds=60))
    let_pass(Request.objects.get().pk, seconds=61)
    tasks.settle_overdue()
    assert Delivery.objects.get().call_id is None


def test_the_access_log_names_routes_and_no_secrets(
    client: Client, loop: Loop, owner_key: str, api: type[Api], lines: io.StringIO
) -> None:
    client.get(f"/join/{loop.invite_code}?secret=1")
    api(owner_key).get(f"/v1/api/loops/{loop.pk}?a=1")
    client.get("/no/such/page")
    client.get("/healthz")
    page, call, missing = read(lines, "call.ended")
    assert loop.invite_code not in lines.getvalue()
    assert (page["method"], page["route"], page["status"]) == ("GET", "/join/<code>", 200)
    assert page["path"] is None
    assert call["path"] == f"/v1/api/loops/{loop.pk}"
    assert call["status"] == 200
    assert call["ms"] > 0
    assert call["ip"] == "127.0.0.1"
    assert (missing["route"], missing["status"]) == ("", 404)


def test_by_default_there_is_none(client: Client, lines: io.StringIO, settings: Settings) -> None:
    settings.ACCESS_LOG = False
    client.get("/accounts/login/")
    assert not read(lines, "call.ended")


def test_logfmt_and_json_say_the_same(client: Client) -> None:
    for name, expected in (
        ("json", '"event": "it is done", "number": 7'),
        ("logfmt", 'event="it is done" number=7'),
    ):
        form = configure_logging(django_settings.LOG_LEVEL, name)["formatters"]["lines"]
        formatter = form.pop("()")(**form)
        record = logging.LogRecord("x", logging.INFO, "x.py", 1, {}, (), None)
        record.msg = {"event": "it is done", "number": 7}
        record._logger, record._name = None, "info"
        assert expected in formatter.format(record)


@pytest.mark.parametrize(
    ("route", "expected"),
    [
        (r"^v1/api/loops/(?P<loop_id>[^/]+)/?\Z", "/v1/api/loops/<loop_id>"),
        ("join/<str:code>", "/join/<code>"),
        (r"accounts/^confirm-email/(?P<key>[-:\w]+)/$", "/accounts/confirm-email/<key>/"),
        (r"^v1(?:/[\s\S]*)?\Z", "/v1/…"),
        ("", "/"),
    ],
)
def test_routes_are_named_as_people_write_them(route: str, expected: str) -> None:
    assert simplify(route) == expected
