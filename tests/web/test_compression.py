"""Pages travel compressed; what is small, and what programs get, travels as it is."""

import gzip

import pytest
from django.test import Client

from accounts.models import User
from tests.portal import signed_in

pytestmark = pytest.mark.django_db
ZIPPED = {"Accept-Encoding": "gzip, deflate, br"}


def test_a_page_is_compressed_for_whoever_can_read_it(member: User) -> None:
    browser = signed_in(member)
    response = browser.get("/inbox/", headers=ZIPPED)
    assert response["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in response["Vary"]
    assert int(response["Content-Length"]) == len(response.content)
    page = gzip.decompress(response.content)
    assert len(response.content) < len(page) / 2
    assert b"<h1>Inbox</h1>" in page
    plain = browser.get("/inbox/")
    assert "Content-Encoding" not in plain
    assert b"<h1>Inbox</h1>" in plain.content


def test_the_length_of_a_page_says_nothing_about_its_secrets(member: User) -> None:
    """Whose length somebody watches who can choose a part of it: it varies."""
    browser = signed_in(member)
    lengths = {len(browser.get("/join/", headers=ZIPPED).content) for _ in range(20)}
    assert len(lengths) > 1


@pytest.mark.parametrize("path", ["/healthz", "/v1/test"])
def test_programs_get_what_they_always_got(path: str) -> None:
    assert "Content-Encoding" not in Client().get(path, headers=ZIPPED)
