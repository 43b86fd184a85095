"""Limits wrong passwords and codes without locking people out of their own accounts.

Tries are counted for an address and a source together: a network, or a browser that signed in to
the account before. In addition, all networks together get a limited number of tries for an address,
and so do all of its known browsers together. The rates are in ACCOUNT_RATE_LIMITS.
"""

import ipaddress

from allauth.account.adapter import get_adapter
from allauth.core.internal import ratelimit
from allauth.core.internal.ratelimit import RateLimitUsage
from django.http import HttpRequest

from signin import known_browsers

PREFIXES = {4: 24, 6: 48}  # bits of an address that name a network


def count_password(request: HttpRequest, email: str) -> RateLimitUsage | None:
    """Counts a try; returns None above the limit. A right password takes the count back."""
    address = email.lower()
    browser = known_browsers.find_name(request, address)
    usage = _consume(request, "password_failed", f"{address} {browser or find_network(request)}")
    if usage is None:
        return None
    of_all = _consume(request, "password_failed_anywhere", _name_sources(address, browser))
    if of_all is None:
        usage.rollback()
        return None
    return RateLimitUsage([*usage.usage, *of_all.usage])


def forget_passwords(request: HttpRequest, email: str) -> None:
    """Resets the counts of an address after a reset of its password."""
    address = email.lower()
    for action, key in (
        ("password_failed", f"{address} {find_network(request)}"),
        ("password_failed_anywhere", _name_sources(address, None)),
    ):
        ratelimit.clear(request, app="allauth.account", action=action, key=key)


def count_code(request: HttpRequest, email: str) -> bool:
    """Counts a code before it is sent; returns False above the limit."""
    address = email.lower()
    browser = known_browsers.find_name(request, address)
    return _consume(request, "request_login_code", _name_sources(address, browser)) is not None


def find_network(request: HttpRequest) -> str:
    """Returns the network of the client's IP address."""
    address = ipaddress.ip_address(get_adapter().get_client_ip(request))
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    network = ipaddress.ip_network((address, PREFIXES[address.version]), strict=False)
    return str(network)


def _name_sources(address: str, browser: str | None) -> str:
    """Returns the key that all known browsers share, or all other ones."""
    return address if browser is None else f"{address} known"


def _consume(request: HttpRequest, action: str, key: str) -> RateLimitUsage | None:
    usage: RateLimitUsage | None = ratelimit.consume(
        request, app="allauth.account", action=action, key=key
    )
    return usage
