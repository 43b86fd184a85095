"""Reads REDIS_URL: one server, over TCP, TLS or a socket, or the servers behind Sentinel."""

import ssl
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured
from redis.backoff import NoBackoff
from redis.retry import Retry

SCHEMES = ("redis", "rediss", "unix", "redis+sentinel", "rediss+sentinel")
EXAMPLES = (
    "redis://:password@host:6379/0, rediss://host:6379/0, unix:///run/redis.sock?db=0 or"
    " redis+sentinel://host1:26379,host2:26379/group/0, with %xx for special characters"
)
CERTIFICATE_CHECKS = {
    "required": ssl.CERT_REQUIRED,
    "optional": ssl.CERT_OPTIONAL,
    "none": ssl.CERT_NONE,
}
OF_TLS = ("ssl_cert_reqs", "ssl_check_hostname", "ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
OF_SENTINEL = ("sentinel_username", "sentinel_password")
SENTINEL_PORT = 26379
AT_ONCE = Retry(NoBackoff(), 0)  # the library's default waits for seconds
SENTINEL_PATIENCE = {"socket_connect_timeout": 1, "socket_timeout": 1, "retry": AT_ONCE}
CACHE_PATIENCE = {
    "socket_connect_timeout": 0.5,
    "socket_timeout": 0.5,
    "retry": AT_ONCE,
}


@dataclass(frozen=True)
class RedisServer:
    """Where Redis is; the broker uses `database`, and the cache the next one."""

    scheme: str
    hosts: tuple[tuple[str, int], ...]
    path: str
    group: str
    database: int
    credentials: dict[str, str]
    tls: dict[str, Any] = field(default_factory=dict)
    sentinel: dict[str, Any] = field(default_factory=dict)

    @property
    def is_sentinel(self) -> bool:
        return self.scheme.endswith("+sentinel")

    def build_cache(self) -> dict[str, Any]:
        """Builds LOCATION and OPTIONS of Django's cache."""
        options = {**self.tls, "db": self.database + 1, **self.credentials, **CACHE_PATIENCE}
        if self.is_sentinel:
            return {
                "LOCATION": [self.group],
                "OPTIONS": {
                    **options,
                    "ssl": bool(self.tls),
                    "pool_class": "web.sentinel.SentinelPool",
                    "sentinels": self.hosts,
                    "sentinel_options": self.sentinel,
                },
            }
        if self.scheme == "unix":
            return {"LOCATION": [f"unix://{self.path}"], "OPTIONS": options}
        return {"LOCATION": [f"{self.scheme}://{self._render_hosts()[0]}"], "OPTIONS": options}

    def build_broker_url(self) -> str:
        """Builds the URL of Celery's broker; build_broker_options has the rest."""
        login = self._render_login()
        if self.scheme == "unix":
            return f"redis+socket://{login}{self.path}?virtual_host={self.database}"
        scheme = "sentinel" if self.is_sentinel else "redis"
        return ";".join(
            f"{scheme}://{login}{host}/{self.database}" for host in self._render_hosts()
        )

    def build_broker_options(self) -> dict[str, Any]:
        """Builds Celery's transport options for Sentinel."""
        if not self.is_sentinel:
            return {}
        return {"master_name": self.group, "sentinel_kwargs": self.sentinel}

    def _render_hosts(self) -> list[str]:
        return [
            f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in self.hosts
        ]

    def _render_login(self) -> str:
        if not self.credentials:
            return ""
        name, password = (self.credentials.get(key, "") for key in ("username", "password"))
        return f"{quote(name, safe='')}:{quote(password, safe='')}@"


def read_redis(text: str, *, number: int | None) -> RedisServer:
    """Reads REDIS_URL; `number` is REDIS_DATABASE. Raises ImproperlyConfigured."""
    try:
        parts = urlsplit(text)
        if parts.scheme not in SCHEMES:
            raise ValueError("it begins with none of " + ", ".join(f"{s}://" for s in SCHEMES))
        if parts.fragment:
            raise ValueError("it contains #")
        return _read_parts(parts, number)
    except ValueError as error:
        raise ImproperlyConfigured(
            f"REDIS_URL cannot be used: {error}. Set it to {EXAMPLES}."
        ) from None


def _read_parts(parts: SplitResult, number: int | None) -> RedisServer:
    has_sentinel, has_tls = parts.scheme.endswith("+sentinel"), parts.scheme.startswith("rediss")
    known = ("db", *(OF_TLS if has_tls else ()), *(OF_SENTINEL if has_sentinel else ()))
    options = _read_options(parts.query, known)
    group, database = _read_path(parts.path, parts.scheme)
    tls = _read_tls(options) if has_tls else {}
    sentinel = {
        key.removeprefix("sentinel_"): options[key] for key in OF_SENTINEL if key in options
    }
    login, at, hosts = parts.netloc.rpartition("@")
    return RedisServer(
        scheme=parts.scheme,
        hosts=() if parts.scheme == "unix" else _read_hosts(hosts, has_sentinel),
        path=parts.path if parts.scheme == "unix" else "",
        group=group,
        database=_choose_database(database, options.get("db", ""), number),
        credentials=_read_login(login) if at else {},
        tls=tls,
        sentinel={**SENTINEL_PATIENCE, **tls, "ssl": has_tls, **sentinel} if has_sentinel else {},
    )


def _read_options(query: str, known: tuple[str, ...]) -> dict[str, str]:
    options = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)))
    unknown = [name for name in options if name not in known]
    if unknown:
        raise ValueError(f"it has the parameter {unknown[0]}; known here: {', '.join(known)}")
    return options


def _read_path(path: str, scheme: str) -> tuple[str, str]:
    """Returns the group of Sentinel and the database, '' where there is none."""
    if scheme == "unix":
        if not path.strip("/"):
            raise ValueError("it names no socket")
        return "", ""
    names = path.strip("/").split("/")
    if not scheme.endswith("+sentinel"):
        if len(names) > 1:
            raise ValueError("it has more than a database behind the host")
        return "", names[0]
    if not names[0] or len(names) > 2:
        raise ValueError("it does not name the group that Sentinel watches, or more than that")
    return unquote(names[0]), names[1] if len(names) == 2 else ""


def _read_hosts(text: str, has_sentinel: bool) -> tuple[tuple[str, int], ...]:
    hosts = []
    for part in text.split(","):
        address = urlsplit(f"//{part}")
        with suppress(ValueError):  # its text may contain a part of a password
            hosts.append(
                (
                    address.hostname or "",
                    address.port or (SENTINEL_PORT if has_sentinel else 6379),
                )
            )
            continue
        raise ValueError("it has a port that is none")
    if not all(host for host, _ in hosts):
        raise ValueError("it has no host")
    if len(hosts) > 1 and not has_sentinel:
        raise ValueError("it has several hosts, which only redis+sentinel:// can have")
    return tuple(hosts)


def _read_login(text: str) -> dict[str, str]:
    name, _, password = text.partition(":")
    given = {"username": unquote(name), "password": unquote(password)}
    return {key: value for key, value in given.items() if value}


def _read_tls(options: dict[str, str]) -> dict[str, Any]:
    """Returns the options of a TLS connection, for redis-py and Celery alike."""
    check = options.get("ssl_cert_reqs", "required").lower().removeprefix("cert_")
    if check not in CERTIFICATE_CHECKS:
        raise ValueError(f"ssl_cert_reqs is none of {', '.join(CERTIFICATE_CHECKS)}")
    checks_name = options.get("ssl_check_hostname", "true").lower()
    if checks_name not in ("true", "false"):
        raise ValueError("ssl_check_hostname is neither true nor false")
    files = {name: options[name] for name in OF_TLS[2:] if name in options}
    return {
        "ssl_cert_reqs": CERTIFICATE_CHECKS[check],
        "ssl_check_hostname": checks_name == "true" and check != "none",
        **files,
    }


def _choose_database(in_path: str, in_query: str, number: int | None) -> int:
    """Returns the database that path, query and REDIS_DATABASE agree on."""
    given = {text for text in (in_path, in_query) if text}
    if len(given) > 1 or not all(text.isdecimal() and text.isascii() for text in given):
        raise ValueError("its database is not one number")
    named = int(given.pop()) if given else 0
    if number is not None and named not in (0, number):
        raise ValueError(f"it names database {named}, and REDIS_DATABASE is {number}")
    return named if number is None else number
