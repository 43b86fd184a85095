"""No input from a browser causes a server error on a page."""

from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from accounts import key_tokens
from accounts.models import ApiKey, User
from accounts.services import create_api_key
from db.ids import new_id
from loops.services import invite_member
from tests.dashboard.scene import draw
from tests.portal import signed_in
from webhooks.models import Delivery

pytestmark = pytest.mark.django_db

# As they stand in an address: NUL, no UTF-8, digits of other scripts, the ends of the calendar.
HOSTILE = [
    "a%00b", "%FF%ED%A0%80", "9" * 400, "9999-12-31", "0001-01-01",
    "%21%26%7C%3A%2A%28%27%22%5C%25%D9%A3",
]  # fmt: skip
QUERIES = {
    "loops": ["page"],
    "loop": ["page"],
    "requests": ["q", "loop", "status", "priority", "since", "until", "page", "before"],
    "new-request": ["loop"],
    "keys": ["before"],
    "audit": ["kind", "who", "since", "until", "before"],
    "deliveries": ["state", "event", "before", "tested"],
    "delivery": ["page"],
    "inbox": ["loop", "page"],
    "work": ["before"],
    "account_login": ["next"],
    "admin:accounts_user_changelist": ["q", "p", "o", "is_active__exact", "password__startswith"],
    "admin:accounts_apikey_changelist": ["state__exact", "digest", "user__id__exact"],
    "admin:accounts_auditentry_changelist": ["q", "ip"],
}
FIELDS = [
    "name", "permissions", "expires_at", "token", "overlap", "typed", "state", "secret", "seen",
    "time_zone", "session", "email", "description", "icon", "once", "loop", "type", "request_text",
    "image_url", "priority", "processing_type", "timeout", "timeout_unit", "response_type",
    "options", "min_selections", "decimal_places", "max_length", "default_response", "context",
    "callback_url", "rating", "tags", "comment", "url", "since", "answer", "mails", "is_on", "code",
]  # fmt: skip
MARK = "0123456789abcdef" + "0" * 8  # any place takes it
FORM = "application/x-www-form-urlencoded"
TYPED = ["\0\ud800", "9" * 400, "9999-12-31T23:59", "\u202e\r\n💣٣"]


@pytest.fixture
def ids(owner: User, member: User) -> dict[str, str]:
    """What the places in an address may hold."""
    drawn = draw(owner, member)
    return {
        "loop_id": drawn["loop"].pk,
        "request_id": drawn["pending"].pk,
        "key_id": create_api_key(user=owner, name="Bot")[0].pk,
        "member_id": invite_member(loop=drawn["loop"], email="ada@example.org").member_id,
        "delivery_id": Delivery.objects.values_list("pk", flat=True)[0],
        "device_id": new_id(),
        "token_id": new_id(),
        "endpoint_id": new_id(),
        "grant_id": new_id(),
        "code": drawn["loop"].invite_code,
    }


def browser_of(owner: User) -> Client:
    """An operator, too, so that every page opens."""
    User.objects.filter(pk=owner.pk).update(is_staff=True, is_superuser=True)
    return signed_in(owner, raise_request_exception=False)


def patterns() -> list[URLPattern]:
    """The addresses of our own pages."""
    found: list[Any] = list(get_resolver().url_patterns)
    flat: list[URLPattern] = []
    while found:
        each = found.pop()
        if isinstance(each, URLResolver):
            found += [] if each.namespace or "accounts/" in str(each.pattern) else each.url_patterns
        elif each.name and "v1" not in str(each.pattern):
            flat.append(each)
    return flat


def faults(answers: dict[str, Any]) -> list[str]:
    return [name for name, answer in answers.items() if answer.status_code >= 500]


def alone(send: Any, *args: Any, **kwargs: Any) -> Any:
    """The answer; what it has changed is undone, also where it broke the transaction."""
    point = transaction.savepoint()
    try:
        return send(*args, **kwargs)
    finally:
        transaction.savepoint_rollback(point)


def test_query_strings(owner: User, ids: dict[str, str]) -> None:
    browser = browser_of(owner)
    answers = {}
    for name, fields in QUERIES.items():
        wanted = {"loop": ["loop_id"], "delivery": ["delivery_id"]}.get(name, [])
        page = reverse(name, kwargs={each: ids[each] for each in wanted})
        for path in [f"{page}?{field}={value}" for field in fields for value in HOSTILE]:
            answers[path] = alone(browser.get, path)
    assert not faults(answers)


@pytest.mark.parametrize("value", ["a%00b", "%FF", "%0A", "x" * 3000])
def test_addresses(owner: User, ids: dict[str, str], value: str) -> None:
    browser = browser_of(owner)
    answers = {}
    for pattern in patterns():
        places = list(pattern.pattern.converters)
        for place in places:
            known = {each: ids.get(each, "zz") for each in places} | {place: MARK}
            path = reverse(str(pattern.name), kwargs=known).replace(MARK, value)
            answers[path] = alone(browser.post, path)
    for kind in ("user", "apikey", "auditentry"):
        path = f"/admin/accounts/{kind}/{value}/change/"
        answers[path] = alone(browser.get, path)
    assert not faults(answers)


@pytest.mark.parametrize("value", TYPED, ids=ascii)
def test_forms(owner: User, ids: dict[str, str], value: str) -> None:
    browser = browser_of(owner)
    typed = dict.fromkeys(FIELDS, value.encode(errors="surrogatepass"))
    typed |= {"seen": b"2026-01-01T00:00:00+00:00", "loop": ids["loop_id"].encode()}
    sent = urlencode(typed)
    answers = {}
    for pattern in patterns():
        places = {each: ids.get(each, "zz") for each in pattern.pattern.converters}
        path = reverse(str(pattern.name), kwargs=places)
        answers[path] = alone(browser.post, path, sent, content_type=FORM)
    assert not faults(answers)


@pytest.mark.parametrize("charset", ["unicode_escape", "rot13", "undefined", "utf-16"])
@pytest.mark.parametrize("path", ["/dashboard/requests/", "/inbox/state/", "/v1/api/requests"])
def test_a_charset_of_the_clients_choice(owner: User, charset: str, path: str) -> None:
    kind = f"application/json; charset={charset}"
    response = browser_of(owner).generic("GET", f"{path}?q=%5Cud800&since=2", content_type=kind)
    assert response.status_code < 500


@pytest.mark.parametrize("path", ["/", "/dashboard/", "/inbox/", "/accounts/login/"])
def test_a_cookie_with_nul(path: str) -> None:
    cookie = {"cookie": 'sessionid="\\000aaaaaaaaaa"'}
    assert Client().get(path, headers=cookie).status_code == 400
    response = Client().get(path, headers={**cookie, "accept": "application/json"})
    assert response.status_code == 400
    assert response.json()["data"] == "cookies must not contain NUL"


@pytest.mark.parametrize("zone", ["America/New_York", "Pacific/Kiritimati"])
def test_a_key_for_ever_is_one_without_an_end(owner: User, zone: str) -> None:
    User.objects.filter(pk=owner.pk).update(time_zone=zone)
    token = key_tokens.issue("create", owner.pk)
    typed = {"name": "Bot", "expires_at": "9999-12-31T23:59", "token": token}
    response = signed_in(owner).post("/dashboard/keys/new/", typed)
    assert response.status_code == 422
    assert "within 100 years" in response.content.decode()
    assert not ApiKey.objects.exists()


def test_an_address_that_no_mail_goes_to() -> None:
    typed = {"name": "A", "email": f"a@{'ü' * 60}.com", "password1": "correct horse battery"}
    answer = Client().post("/accounts/signup/", typed)
    assert "Enter a valid email address." in answer.content.decode()


@pytest.mark.parametrize("path", ["/dashboard/requests/new/", "/dashboard/requests/new/curl/"])
def test_a_number_too_long_to_be_read(owner: User, ids: dict[str, str], path: str) -> None:
    typed = {"loop": ids["loop_id"], "response_type": "number", "default_response": "9" * 5000}
    assert signed_in(owner).post(path, typed).status_code in (200, 422)
