"""Every page that somebody can open is in the catalogue, so that it is checked.

The addresses come from config.urls. One with an id of a new kind has to be given one in `NAMED`.
"""

from collections.abc import Iterator
from typing import Any

from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from tests.browser.catalogue import EVERY_PAGE
from tests.browser.scene import Scene, set_the_scene
from tests.portal import confirmed

NAMED = {
    "loop_id": "loop",
    "request_id": "critical",
    "key_id": "key",
    "delivery_id": "delivery",
    "endpoint_id": "endpoint",
    "code": "code",
    "pk": "passkey",
}
NOBODYS = "0" * 24  # such as a member's or a device's: only forms are sent there
# Not ours to draw: Swagger UI, of which tests/browser/test_docs.py tells.
ELSEWHERE = {"docs"}


def addresses(patterns: list[Any] | None = None) -> Iterator[tuple[str, list[str]]]:
    """The name of each address that has one, the operator's aside, and of the ids in it."""
    for each in get_resolver().url_patterns if patterns is None else patterns:
        if isinstance(each, URLResolver) and each.namespace is None:
            yield from addresses(each.url_patterns)
        elif isinstance(each, URLPattern) and each.name:
            groups = each.pattern.regex.groupindex
            yield each.name, list(each.pattern.converters or groups)


def is_page(browser: Client, path: str) -> bool:
    response = browser.get(path)
    return response.status_code == 200 and response["Content-Type"].startswith("text/html")


def test_every_page_is_in_the_catalogue(db: None) -> None:
    scene = set_the_scene()
    people = {name: confirmed(user) if user else Client() for name, user in scene.people().items()}
    listed = {stop.url for stop in EVERY_PAGE} | ELSEWHERE
    missing = {
        (name, who)
        for name, ids in addresses()
        for who, browser in people.items()
        if name not in listed and is_page(browser, path_of(name, ids, scene))
    }
    assert missing == set()


def path_of(name: str, ids: list[str], scene: Scene) -> str:
    return reverse(name, args=[scene.ids.get(NAMED.get(each, ""), NOBODYS) for each in ids])


def test_nothing_is_in_the_catalogue_twice() -> None:
    titles = [stop.title for stop in EVERY_PAGE]
    assert len(titles) == len(set(titles))
