"""The headers of pages and files, and the page for whoever found a weakness."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.test import Client
from django.urls import URLPattern, get_resolver
from pytest_django import Settings

from accounts.models import User
from loops.models import Loop
from tests.portal import signed_in

CONTACT = "mailto:security@example.com"


def account_paths() -> list[str]:
    """Every page below /accounts/ whose address has no id."""
    found: list[str] = []

    def walk(patterns: list[object], prefix: str) -> None:
        for each in patterns:
            path = prefix + str(each.pattern)  # type: ignore[attr-defined]
            if isinstance(each, URLPattern):
                found.append(f"/{path}")
            else:
                walk(each.url_patterns, path)  # type: ignore[attr-defined]

    (accounts,) = (p for p in get_resolver().url_patterns if str(p.pattern) == "accounts/")
    walk(accounts.url_patterns, "accounts/")  # type: ignore[union-attr, arg-type]
    return sorted(path for path in set(found) if not re.search(r"[<(^]", path))


@pytest.mark.django_db
class TestPages:
    def test_what_a_page_may_use_and_who_may_embed_it(self, owner: User) -> None:
        for browser, path in ((Client(), "/"), (signed_in(owner), "/dashboard/")):
            response = browser.get(path)
            assert response["Cross-Origin-Resource-Policy"] == "same-origin"
            assert response["Cross-Origin-Opener-Policy"] == "same-origin"
            for feature in ("camera", "microphone", "geolocation", "payment", "usb"):
                assert f"{feature}=()" in response["Permissions-Policy"].split(", ")

    def test_other_sites_may_embed_qr_codes(self, loop: Loop) -> None:
        response = Client().get(f"/qr/{loop.invite_code}.png")
        assert response["Cross-Origin-Resource-Policy"] == "cross-origin"

    def test_nothing_stores_the_pages_of_an_account(self, owner: User) -> None:
        TOTP.activate(owner, "JBSWY3DPEHPK3PXP")
        RecoveryCodes.activate(owner)
        paths = account_paths()
        assert {"/accounts/email/", "/accounts/2fa/recovery-codes/"} <= set(paths)
        for path in paths:
            for browser in (Client(), signed_in(owner)):
                assert "no-store" in browser.get(path)["Cache-Control"], path

    def test_nor_those_with_keys_and_secrets(self, owner: User) -> None:
        for path in ("keys/", "keys/new/", "webhook-secret/", "account/", "account/sessions/"):
            response = signed_in(owner).get(f"/dashboard/{path}")
            assert response.status_code == 200
            assert "no-store" in response["Cache-Control"], path
        for path in ("/settings/tokens/", "/settings/tokens/new/"):
            assert "no-store" in signed_in(owner).get(path)["Cache-Control"], path

    def test_a_file_may_be_stored(self) -> None:
        response = Client().get("/static/favicon.svg")
        response.close()
        assert "no-store" not in response["Cache-Control"]
        assert response["Cross-Origin-Resource-Policy"] == "same-origin"


class TestSecurityTxt:
    def test_it_names_the_contact_of_the_operator(self, settings: Settings) -> None:
        settings.SECURITY_CONTACT = CONTACT
        settings.SITE_URL = "https://review.example.com"
        response = Client().get("/.well-known/security.txt")
        assert response["Content-Type"] == "text/plain; charset=utf-8"
        fields = dict(line.split(": ", 1) for line in response.content.decode().splitlines())
        assert fields["Contact"] == CONTACT
        assert fields["Canonical"] == "https://review.example.com/.well-known/security.txt"
        ends = datetime.fromisoformat(fields["Expires"])
        assert timedelta(days=30) < ends - datetime.now(UTC) < timedelta(days=365)

    def test_without_one_there_is_none(self, db: None) -> None:
        assert Client().get("/.well-known/security.txt").status_code == 404
