"""Whose address it is, behind proxies."""

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory
from pytest_django import Settings

from web.middleware import TrustedProxyMiddleware


@pytest.mark.parametrize(
    ("proxies", "forwarded", "expected"),
    [
        (0, "203.0.113.9", "198.51.100.1"),
        (1, "203.0.113.9", "203.0.113.9"),
        (1, "1.1.1.1, 203.0.113.9", "203.0.113.9"),
        (2, "1.1.1.1, 203.0.113.9, 10.0.0.1", "203.0.113.9"),
        (2, "203.0.113.9", "198.51.100.1"),
        (1, "2001:db8::1", "2001:db8::1"),
        (1, "what is this", "198.51.100.1"),
    ],
)
def test_the_client_is_the_entry_that_our_proxies_wrote(
    settings: Settings, proxies: int, forwarded: str, expected: str
) -> None:
    settings.TRUSTED_PROXIES = proxies
    seen: list[str] = []

    def view(request: HttpRequest) -> HttpResponse:
        seen.append(request.META["REMOTE_ADDR"])
        return HttpResponse()

    request = RequestFactory().get(
        "/", REMOTE_ADDR="198.51.100.1", headers={"X-Forwarded-For": forwarded}
    )
    TrustedProxyMiddleware(view)(request)
    assert seen == [expected]
