"""The settings of production, in a process of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
KEY = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
PRODUCTION = {
    "SECRET_KEY": "f1Qz" * 20 + "abcdefgh-ijkl",
    "ENCRYPTION_KEYS": KEY,
    "SITE_URL": "https://review.example.com",
    "TRUSTED_PROXIES": "1",
    "DATABASE_URL": "postgres://app@127.0.0.1:1/x",
    "REDIS_URL": "redis://127.0.0.1:1",
    "EMAIL_URL": "smtp+tls://user:password@127.0.0.1:1",
    "DJANGO_SETTINGS_MODULE": "config.settings",
    "PATH": os.environ["PATH"],
}
SHOW = """
import json, django
django.setup()
from django.test import Client
from django.conf import settings
client = Client(raise_request_exception=False)
def look(path, **more):
    response = client.get(path, headers={"host": "review.example.com"}, **more)
    cookies = {name: dict(each) for name, each in response.cookies.items()}
    return [response.status_code, dict(response.headers), cookies]
print(json.dumps({
    "http": look("/accounts/login/"),
    "https": look("/accounts/login/", HTTP_X_FORWARDED_PROTO="https"),
    "health": look("/healthz"),
    "api": look("/v1/nothing"),
    "names": [settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME, settings.NEW_KEY_COOKIE,
              settings.KNOWN_BROWSER_COOKIE, settings.MESSAGE_COOKIE_NAME],
}))
"""


def run(*arguments: str, **change: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**PRODUCTION, **change},
        capture_output=True,
        text=True,
        timeout=120,
    )


def show(**change: str) -> Any:
    done = run("-c", SHOW, **change)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_djangos_checks_for_production_find_nothing() -> None:
    done = run("manage.py", "check", "--deploy", "--fail-level", "WARNING")
    assert done.returncode == 0, done.stderr


def test_they_are_awake() -> None:
    done = run("manage.py", "check", "--deploy", "--fail-level", "WARNING", SECRET_KEY="short")
    assert done.returncode != 0
    assert "security.W009" in done.stderr


@pytest.fixture(scope="module")
def seen() -> Any:
    return show()


class TestHttps:
    def test_people_are_led_to_it(self, seen: Any) -> None:
        status, headers, _ = seen["http"]
        assert (status, headers["Location"]) == (301, "https://review.example.com/accounts/login/")
        assert seen["https"][0] == 200

    def test_probes_and_programs_are_not_redirected(self, seen: Any) -> None:
        assert seen["health"][0] == 200
        assert seen["api"][0] == 404

    def test_browsers_remember_it(self, seen: Any) -> None:
        assert seen["https"][1]["Strict-Transport-Security"] == "max-age=31536000"
        assert "Strict-Transport-Security" not in seen["http"][1]

    def test_cookies_belong_to_this_host(self, seen: Any) -> None:
        session, csrf, key, browser, messages = seen["names"]
        assert all(name.startswith("__Host-") for name in (session, csrf, browser, messages))
        assert key.startswith("__Secure-")
        assert csrf in seen["https"][2]
        for name, cookie in seen["https"][2].items():
            assert name.startswith("__Host-")
            assert cookie["secure"]
            assert (cookie["path"], cookie["domain"]) == ("/", "")


def test_without_a_proxy_that_tells_nothing_is_redirected() -> None:
    """Behind a proxy that the service does not trust, a redirect would never end."""
    seen = show(TRUSTED_PROXIES="0")
    assert seen["http"][0] == 200


def test_over_http_everything_works_as_it_did() -> None:
    seen = show(SITE_URL="http://review.example.com")
    assert seen["http"][0] == 200
    assert "Strict-Transport-Security" not in seen["https"][1]
    assert seen["names"] == ["sessionid", "csrftoken", "fresh-key", "browser", "messages"]


def test_a_contact_that_is_none_stops_the_start() -> None:
    done = run("manage.py", "check", SECURITY_CONTACT="security@example.com")
    assert done.returncode != 0
    assert "SECURITY_CONTACT" in done.stderr
