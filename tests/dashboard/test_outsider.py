"""Every address of the dashboard, walked with another account's ids.

The addresses come from config.urls. One with an id of a new kind has to be given one in `ids`.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from accounts.models import User
from accounts.services import create_api_key
from loops.models import Loop
from loops.services import create_loop, join_loop
from reviews import services
from tests.portal import signed_in
from tests.reviews.conftest import FIELDS, acting
from tests.reviews.grants import Agent, allow
from tests.webhooks.log import made
from webhooks.endpoints import create_endpoint

ROOMS = ("accounts", "loops", "reviews", "webhooks")
WORD = "quartz"  # is in everything that the owner named
QUERIES = [
    ("loop", "loop_id"),
    ("q", "request_id"),
    ("before", "request_id"),
    ("before", "delivery_id"),
    ("tested", "delivery_id"),
    ("before", "key_id"),
]
Address = tuple[str, tuple[str, ...]]


def addresses(
    patterns: list[Any] | None = None, path: str = "", ids: tuple[str, ...] = ()
) -> Iterator[Address]:
    """The name of each address below /dashboard/, and of the ids in it."""
    for each in get_resolver().url_patterns if patterns is None else patterns:
        whole, names = path + str(each.pattern), (*ids, *each.pattern.converters)
        if isinstance(each, URLResolver):
            yield from addresses(each.url_patterns, whole, names)
        elif isinstance(each, URLPattern) and whole.startswith("dashboard/"):
            yield str(each.name), names


WITH_IDS = [each for each in addresses() if each[1]]
WITHOUT = [name for name, ids in addresses() if not ids]


def endpoint_of(owner: User) -> str:
    chosen: dict[str, Any] = {"events": ["request.created"], "loop_ids": None}
    url = f"https://{WORD}.example/hook"
    return str(create_endpoint(account=owner, url=url, **chosen)[0].pk)


@pytest.fixture
def ids(owner: User, member: User) -> dict[str, str]:
    """One of everything that an address can name, all of them the owner's."""
    loop = create_loop(owner_id=owner.pk, name=f"{WORD} desk", icon="star", description=WORD)
    join_loop(user=member, code=loop.invite_code)
    asked = {**FIELDS, "request_text": f"Is it {WORD}?"}
    request = services.create_request(loop_id=loop.pk, account=acting(owner), fields=asked)
    return {
        "loop_id": loop.pk,
        "member_id": member.pk,
        "request_id": request.pk,
        "key_id": create_api_key(user=owner, name=f"{WORD} bot")[0].pk,
        "endpoint_id": endpoint_of(owner),
        "grant_id": allow(Agent(owner, loop).ask(), member).pk,
        "delivery_id": made(owner, url=f"https://{WORD}.example/", state="dead").pk,
    }


def typed(ids: dict[str, str]) -> dict[str, str]:
    """What would do most harm, were it let."""
    loop = Loop.objects.get(pk=ids["loop_id"])
    return {
        "loop": loop.pk,
        "name": "Mine now",
        "icon": "heart",
        "typed": loop.name,
        "email": "eve@example.org",
        "state": "inactive",
        "overlap": "0",
        "since": "2020-01-01T00:00",
        "rating": "1",
        "request_text": "Mine?",
        "response_type": "rating",
        "default_response": "1",
        "session": "1",
    }


def rows(but: User) -> set[str]:
    """Whatever is stored that is not of this person."""
    models = [model for room in ROOMS for model in apps.get_app_config(room).get_models()]
    return {
        f"{model.__name__} {row}"
        for model in models
        for row in model._default_manager.values_list()
        if but.pk not in row
    }


def test_there_is_something_to_walk() -> None:
    assert {"loop", "request-json", "delivery", "key-secret"} <= {name for name, _ in WITH_IDS}
    assert {"overview", "requests", "deliveries", "audit", "reveal-secret"} <= set(WITHOUT)


def test_nothing_of_another_account_is_found(outsider: User, ids: dict[str, str]) -> None:
    browser, before = signed_in(outsider), rows(but=outsider)
    for name, kinds in WITH_IDS:
        path = reverse(name, kwargs={kind: ids[kind] for kind in kinds})
        assert browser.post(path, typed(ids)).status_code in (404, 405), path
        response = browser.get(path, follow=True)
        assert response.status_code == 404, path
        assert WORD not in response.content.decode(), path
    assert rows(but=outsider) == before


def text_of(response: Any) -> str:
    """A page, or a file that comes in parts."""
    parts = response.streaming_content if response.streaming else [response.content]
    return b"".join(parts).decode()


def test_nor_does_any_page_of_ones_own_tell_of_it(
    owner: User, member: User, outsider: User, ids: dict[str, str]
) -> None:
    browser, before = signed_in(outsider), rows(but=outsider)
    telling = {WORD, owner.email, member.email, *ids.values()}
    for name in WITHOUT:
        path = reverse(name)
        page = text_of(browser.get(path, follow=True))
        if name != "audit":  # it repeats the filters of one's own exports
            assert [each for each in telling if each in page] == [], path
        assert WORD not in page, path
        for query, kind in QUERIES:
            page = text_of(browser.get(path, {query: ids[kind]}, follow=True))
            assert WORD not in page, (path, query)
        assert WORD not in text_of(browser.post(path, typed(ids), follow=True)), path
    assert rows(but=outsider) == before
