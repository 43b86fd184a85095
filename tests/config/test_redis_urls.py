"""REDIS_URL means what it says, or a sentence refuses it."""

import ssl
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from kombu import Connection
from redis import ConnectionPool

from config.redis_urls import read_redis


def cache(url: str, number: int | None = None) -> dict[str, Any]:
    """How the cache connects, as redis-py understands it."""
    given = read_redis(url, number=number).build_cache()
    pool = ConnectionPool.from_url(given["LOCATION"][0], **given["OPTIONS"])
    return {**pool.connection_kwargs, "class": pool.connection_class.__name__}


def broker(url: str, number: int | None = None) -> dict[str, Any]:
    """How Celery connects, as kombu understands it."""
    server = read_redis(url, number=number)
    connection = Connection(
        server.build_broker_url(), ssl=server.tls, transport_options=server.build_broker_options()
    )
    channel: Any = connection.channel()
    given: dict[str, Any] = channel._connparams()
    return given


@pytest.fixture(autouse=True)
def _unconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Channels of kombu are made without a server."""
    monkeypatch.setattr("kombu.transport.redis.Channel._create_client", Silent)


class Silent:
    def __init__(self, *_: object, **__: object) -> None: ...

    def ping(self) -> None: ...


@pytest.mark.parametrize(
    ("url", "number", "databases"),
    [
        ("redis://h", None, (0, 1)),
        ("redis://h/5", None, (5, 6)),
        ("redis://h?db=5", None, (5, 6)),
        ("redis://h/0", 4, (4, 5)),
        ("redis://h/4", 4, (4, 5)),
        ("unix:///run/redis.sock?db=3", None, (3, 4)),
        ("unix:///run/redis.sock", 2, (2, 3)),
    ],
)
def test_the_broker_uses_the_database_and_the_cache_the_next(
    url: str, number: int | None, databases: tuple[int, int]
) -> None:
    assert (broker(url, number)["db"], cache(url, number)["db"]) == databases


@pytest.mark.parametrize("connect", [broker, cache])
def test_name_and_password_arrive(connect: Any) -> None:
    for url in ("redis://me:p%2F%3B%2C%40@h:7/5", "unix://me:p%2F%3B%2C%40@/run/redis.sock"):
        given = connect(url)
        assert (given["username"], given["password"]) == ("me", "p/;,@")


def test_a_socket_is_one() -> None:
    assert cache("unix:///run/a%20b.sock")["path"] == broker("unix:///run/a%20b.sock")["path"]
    assert cache("unix:///run/redis.sock")["class"] == "UnixDomainSocketConnection"


@pytest.mark.parametrize("connect", [broker, cache])
def test_tls_keeps_its_parameters(connect: Any) -> None:
    given = connect("rediss://h:6390/0?ssl_cert_reqs=none")
    assert given["ssl_cert_reqs"] == ssl.CERT_NONE
    assert (given["host"], given["port"]) == ("h", 6390)
    given = connect(
        "rediss://h?ssl_ca_certs=/ca.pem&ssl_certfile=/me.pem&ssl_keyfile=/me.key"
        "&ssl_check_hostname=false&ssl_cert_reqs=CERT_OPTIONAL"
    )
    assert (given["ssl_ca_certs"], given["ssl_keyfile"]) == ("/ca.pem", "/me.key")
    assert given["ssl_certfile"] == "/me.pem"
    assert given["ssl_cert_reqs"] == ssl.CERT_OPTIONAL
    assert not given["ssl_check_hostname"]


@pytest.mark.parametrize("connect", [broker, cache])
def test_certificates_are_checked_unless_told(connect: Any) -> None:
    given = connect("rediss://h")
    assert given["ssl_cert_reqs"] == ssl.CERT_REQUIRED
    assert given["ssl_check_hostname"]


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("hello", "it begins with none of redis://"),
        ("http://h", "it begins with none of redis://"),
        ("redis://", "it has no host"),
        ("redis://h:no", "a port that is none"),
        ("redis://:secret/x@h", "a port that is none"),
        ("redis://h/x", "its database is not one number"),
        ("redis://h/-1", "its database is not one number"),
        ("redis://h/1?db=2", "its database is not one number"),
        ("redis://h/1/2", "more than a database"),
        ("redis://h#x", "it contains #"),
        ("redis://h?ssl_cert_reqs=none", "the parameter ssl_cert_reqs; known here: db"),
        ("redis://h?socket_timeout=1", "the parameter socket_timeout; known here: db"),
        ("rediss://h?ssl_cert_reqs=maybe", "ssl_cert_reqs is none of required, optional, none"),
        ("rediss://h?ssl_check_hostname=x", "ssl_check_hostname is neither true nor false"),
        ("redis://a,b/0", "several hosts"),
        ("unix://", "it names no socket"),
        ("redis+sentinel://a:26379", "the group that Sentinel watches"),
        ("redis+sentinel://a:26379/g/x", "its database is not one number"),
        ("redis+sentinel://a,/g", "it has no host"),
    ],
)
def test_what_is_wrong_gets_a_sentence(url: str, reason: str) -> None:
    with pytest.raises(ImproperlyConfigured) as caught:
        read_redis(url, number=None)
    assert reason in str(caught.value)
    assert "Set it to redis://:password@host:6379/0, rediss://" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_two_different_databases_are_refused() -> None:
    with pytest.raises(ImproperlyConfigured, match="names database 5, and REDIS_DATABASE is 4"):
        read_redis("redis://h/5", number=4)
