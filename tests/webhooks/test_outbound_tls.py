"""TLS to receivers: which certificates are trusted, and what we send."""

import socket
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.webhooks.certificates import Authority, new_authority
from tests.webhooks.receivers import receiving
from tests.webhooks.test_outbound import LOOPBACK, cut_after
from webhooks import outbound
from webhooks.outbound import Response, Unreachable

HOST = "receiver.example"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return new_authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(autouse=True)
def _names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every name is this machine; there is no DNS server of ours."""

    def look_up(host: str, port: int, **options: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


def post(port: int, tls: ssl.SSLContext, host: str = HOST, seconds: float = 5) -> Response:
    return outbound.post(
        f"https://{host}:{port}/hook",
        body=b"{}", headers={}, seconds=seconds, opened=LOOPBACK, tls=tls,
    )  # fmt: skip


def test_a_certificate_of_the_operators_authority_and_the_kept_name(authority: Authority) -> None:
    names: list[str | None] = []
    serving = authority.serve(HOST)
    serving.sni_callback = lambda _, name, __: names.append(name)
    with receiving(tls=serving) as receiver:
        answer = post(receiver.port, outbound.tls_context(authority.file))
        assert answer.status == 204
        assert receiver.got[0].headers["host"] == f"{HOST}:{receiver.port}"
    assert names == [HOST]


@pytest.mark.parametrize(
    ("serve", "complaint"),
    [
        (lambda authority: authority.serve(HOST, self_signed=True), "self-signed certificate"),
        (lambda authority: authority.serve("other.example"), "Hostname mismatch"),
        (lambda authority: authority.serve(HOST, days=-1), "certificate has expired"),
    ],
    ids=["self-signed", "other name", "expired"],
)
def test_a_bad_certificate(
    authority: Authority, serve: Callable[[Authority], ssl.SSLContext], complaint: str
) -> None:
    with receiving(tls=serve(authority)) as receiver:
        with pytest.raises(Unreachable, match=complaint):
            post(receiver.port, outbound.tls_context(authority.file))
        assert receiver.got == []


def test_an_authority_that_nobody_has_heard_of(authority: Authority) -> None:
    with receiving(tls=authority.serve(HOST)) as receiver:
        with pytest.raises(Unreachable, match="unable to get local issuer certificate"):
            post(receiver.port, outbound.tls_context())
        assert receiver.got == []


def test_the_environment_adds_no_authority(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.setenv(name, authority.file)
    with receiving(tls=authority.serve(HOST)) as receiver, pytest.raises(Unreachable):
        post(receiver.port, outbound.tls_context())


def test_what_speaks_no_tls() -> None:
    with receiving() as receiver, pytest.raises(Unreachable, match="SSLError"):
        post(receiver.port, outbound.tls_context())


def test_a_handshake_that_never_ends() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, cut_after(0.4):
        post(server.getsockname()[1], outbound.tls_context(), seconds=0.4)


def test_an_answer_that_never_comes_over_tls(authority: Authority) -> None:
    with receiving(tls=authority.serve(HOST)) as receiver:
        receiver.free.clear()
        tls = outbound.tls_context(authority.file)
        with cut_after(0.6):
            post(receiver.port, tls, seconds=0.6)


def test_the_authorities_are_loaded_once(authority: Authority) -> None:
    """Reading the bundle takes longer than the rest of an exchange."""
    loaded: list[object] = []

    class Counting(ssl.SSLContext):
        def load_verify_locations(self, *args: Any, **kwargs: Any) -> None:
            loaded.append(args)
            super().load_verify_locations(*args, **kwargs)

    tls = Counting(ssl.PROTOCOL_TLS_CLIENT)
    tls.load_verify_locations(authority.file)
    with receiving(tls=authority.serve(HOST)) as receiver:
        for _ in range(3):
            assert post(receiver.port, tls).status == 204
    assert len(loaded) == 1


def test_old_protocols_are_not_spoken(authority: Authority, tmp_path: Path) -> None:
    assert outbound.tls_context().minimum_version >= ssl.TLSVersion.TLSv1_2
