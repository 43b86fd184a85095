"""What makes the portal an app: anybody may read it, and it asks the database nothing."""

import json

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from tests.portal import words

pytestmark = pytest.mark.django_db


def test_manifest(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(0):
        response = Client().get("/manifest.webmanifest")
    assert response.headers["Content-Type"] == "application/manifest+json"
    said = json.loads(response.content)
    assert (said["name"], said["start_url"], said["display"]) == (
        "Review Loop",
        "/inbox/",
        "standalone",
    )
    assert {icon["sizes"] for icon in said["icons"]} == {"192x192", "512x512"}
    for icon in said["icons"]:
        assert finders.find(icon["src"].removeprefix("/static/"))


def test_service_worker(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(0):
        response = Client().get("/sw.js")
    assert response.headers["Content-Type"].startswith("text/javascript")
    assert response.headers["Cache-Control"] == "no-cache"
    assert 'const OFFLINE = "/offline/";' in response.content.decode()


def test_offline(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(0):
        response = Client().get("/offline/")
    assert "You’re offline" in words(response)
    assert "csrf" not in response.content.decode()


@pytest.mark.parametrize("path", ["/manifest.webmanifest", "/sw.js", "/offline/"])
def test_for_reading_only(path: str) -> None:
    assert Client().post(path).status_code == 405
