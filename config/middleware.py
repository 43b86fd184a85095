"""What surrounds every call."""

import ipaddress
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse


def is_address(text: str) -> bool:
    """Whether `text` is an IPv4 or IPv6 address."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


class TrustedProxyMiddleware:
    """Takes the client's address and scheme from the proxies that the operator declared.

    With TRUSTED_PROXIES = n, the n-th entry from the right of X-Forwarded-For is the client:
    what stands further left was written by the client itself.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        count: int = settings.TRUSTED_PROXIES
        if count:
            hops = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
            if len(hops) >= count and is_address(hops[-count].strip()):
                request.META["REMOTE_ADDR"] = hops[-count].strip()
            if request.META.get("HTTP_X_FORWARDED_PROTO") == "https":
                request.META["wsgi.url_scheme"] = "https"
        # django-ratelimit wants an address; a unix socket has none
        request.META["REMOTE_ADDR"] = request.META.get("REMOTE_ADDR") or "127.0.0.1"
        return self.get_response(request)
