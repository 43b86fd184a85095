"""Every spelling of a closed address is refused, without a connection."""

import ipaddress
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.webhooks.spellings import NAMES, SPELLINGS
from webhooks import outbound
from webhooks.networks import is_public, read_address
from webhooks.outbound import Refused, Unreachable

TLS = outbound.tls_context()
real_getaddrinfo = socket.getaddrinfo


def look_up(host: str, port: int, **options: Any) -> list[Any]:
    """The C library's reading of numbers; names from the table above, without a DNS server."""
    answers = NAMES.get(host.lower().removesuffix("."))
    if answers is None:
        return real_getaddrinfo(host, port, flags=socket.AI_NUMERICHOST, **options)
    found = []
    for answer in answers:
        family = socket.AF_INET6 if ":" in answer else socket.AF_INET
        address = (answer, port, 0, 0) if ":" in answer else (answer, port)
        found.append((family, socket.SOCK_STREAM, 6, "", address))
    return found


@pytest.fixture
def listener(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """Takes connections on every address of this machine, of both families."""
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with socket.create_server(
        ("::", 0), family=socket.AF_INET6, dualstack_ipv6=True, backlog=16
    ) as server:
        server.setblocking(False)
        yield server


def is_untouched(listener: socket.socket) -> bool:
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return True
    return False


def post(url: str, opened: tuple[str, ...] = (), seconds: float = 5) -> outbound.Response:
    networks = [ipaddress.ip_network(text) for text in opened]
    return outbound.post(url, body=b"{}", headers={}, seconds=seconds, opened=networks, tls=TLS)


@pytest.mark.parametrize("url", ["http://[::1%251]:9/", "http://[::1%1]:9/"])
def test_an_address_with_a_zone_is_not_dialled(url: str) -> None:
    """The zone is an interface of this machine, which is not for strangers to choose."""
    with pytest.raises(Unreachable, match="zone"):
        post(url, opened=("::1/128",))


def test_there_are_many_spellings() -> None:
    assert len(set(SPELLINGS)) == len(SPELLINGS) >= 60


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_hostile_spelling_is_refused(listener: socket.socket, spelling: str) -> None:
    url = spelling.format(port=listener.getsockname()[1])
    with pytest.raises((Refused, Unreachable)):
        post(url)
    assert is_untouched(listener)


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "0x7f.1", "localhost"])
def test_the_listener_would_have_noticed(listener: socket.socket, host: str) -> None:
    """The same addresses, opened by the operator: so the test above is able to fail."""
    url = f"http://{host}:{listener.getsockname()[1]}/"
    with pytest.raises(Unreachable, match=r"within 0\.2 s"):
        post(url, opened=("127.0.0.0/8", "::1/128"), seconds=0.2)
    assert not is_untouched(listener)


def test_a_refusal_names_the_address_and_is_no_failed_connection(listener: socket.socket) -> None:
    with pytest.raises(Refused, match=r"^169\.254\.169\.254 is not a public address\.$"):
        post("http://metadata.example/")


def test_opening_a_network_opens_no_other_spelling_of_it(listener: socket.socket) -> None:
    for host in ("[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[::1]", "10.0.0.1", "0.0.0.0"):
        with pytest.raises(Refused):
            post(f"http://{host}:{listener.getsockname()[1]}/", opened=("127.0.0.0/8",))
    assert is_untouched(listener)


class Rebinding:
    """A name whose answer changes: public when it is checked, ours when it is dialled."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked = 0

    def __call__(self, host: str, port: int, **options: Any) -> list[Any]:
        answer = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (answer, port))]


def test_a_name_is_looked_up_once_and_the_checked_address_is_dialled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as checked,
        socket.create_server(("127.0.0.2", checked.getsockname()[1])) as other,
    ):
        checked.setblocking(False)
        other.setblocking(False)
        rebinding = Rebinding("127.0.0.1", "127.0.0.2")
        monkeypatch.setattr(socket, "getaddrinfo", rebinding)
        with pytest.raises(Unreachable):
            post(
                f"http://rebind.example:{checked.getsockname()[1]}/",
                opened=("127.0.0.1/32",),
                seconds=0.2,
            )
        assert rebinding.asked == 1
        assert not is_untouched(checked)
        assert is_untouched(other)


def test_a_name_that_turns_hostile_is_refused_the_next_time(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", Rebinding("127.0.0.1", "169.254.169.254"))
    url = f"http://rebind.example:{listener.getsockname()[1]}/"
    with pytest.raises(Unreachable):
        post(url, opened=("127.0.0.0/8",), seconds=0.2)
    assert not is_untouched(listener)
    with pytest.raises(Refused):
        post(url, opened=("127.0.0.0/8",), seconds=0.2)
    assert is_untouched(listener)


@pytest.mark.parametrize(
    "text",
    [
        "1.1.1.1", "8.8.8.8", "93.184.216.34", "9.255.255.255", "11.0.0.0", "100.63.255.255",
        "100.128.0.0", "126.255.255.255", "128.0.0.1", "169.253.255.255", "169.255.0.0",
        "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "192.169.0.0",
        "198.17.255.255", "198.20.0.0", "223.255.255.255", "168.63.129.17",
        "2606:4700:4700::1111", "2a00:1450:4001:81b::200e", "2001:4860:4860::8888", "2001:200::1",
        "2003::1", "2400::1", "2620:fe::fe", "3ffe::1",
    ],
)  # fmt: skip
def test_public_addresses_are_public(text: str) -> None:
    assert is_public(ipaddress.ip_address(text))


@given(st.ip_addresses(v=4))
def test_nothing_that_holds_a_closed_ipv4_address_is_public(address: Any) -> None:
    number = int(address)
    for prefix in ("::", "::ffff:0:0", "64:ff9b::", "64:ff9b:1::", "fe80::5efe:0:0"):
        assert not is_public(ipaddress.IPv6Address(int(ipaddress.IPv6Address(prefix)) + number))
    assert not is_public(ipaddress.IPv6Address((0x2002 << 112) + (number << 80)))  # 6to4
    teredo = (0x20010000 << 96) + (number ^ 0xFFFFFFFF)
    assert not is_public(ipaddress.IPv6Address(teredo))


@given(st.ip_addresses())
def test_public_here_is_never_private_to_the_standard_library(address: Any) -> None:
    if is_public(address):
        assert not address.is_private
        assert not address.is_multicast
        assert not address.is_reserved


@pytest.mark.parametrize("text", ["fe80::1%lo", "::1%0", "", "localhost", "127.1", "1.2.3.4/32"])
def test_what_is_no_plain_address_is_none(text: str) -> None:
    assert read_address(text) is None
