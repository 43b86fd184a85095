"""Decides which addresses a webhook may reach. Pure.

An explicit list, because the standard library's `is_global` and `is_private` call addresses
public that are not: IPv4-mapped ones, NAT64 and 6to4 of a metadata service, Teredo, multicast.
"""

from collections.abc import Iterable
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
)

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# IANA's special-purpose registries, and what clouds hide behind public numbers.
CLOSED_4 = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by carriers; Alibaba's metadata
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # Azure's metadata and DNS
        "169.254.0.0/16",  # link-local; most clouds' metadata
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # IETF protocols; Oracle's metadata
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
# Everything outside 2000::/3 is closed: loopback, mapped, NAT64, ULA, link-local, multicast.
OPEN_6 = IPv6Network("2000::/3")
CLOSED_6 = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # IETF protocols: Teredo, ORCHID, benchmarks
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)


def is_public(address: Address) -> bool:
    """Whether the address belongs to the public Internet."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in CLOSED_4)
    return address in OPEN_6 and not any(address in network for network in CLOSED_6)


def may_reach(address: Address, opened: Iterable[Network]) -> bool:
    """Whether it is public, or in a network that the operator has opened."""
    opened_here = any(
        address in network for network in opened if network.version == address.version
    )
    return opened_here or is_public(address)


def read_address(text: str) -> Address | None:
    """Parses an IP address; None where the text is not one, or has a scope."""
    try:
        return None if "%" in text else ip_address(text)
    except ValueError:
        return None
