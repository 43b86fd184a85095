"""Reads DATABASE_URL and DATABASE_DIRECT_URL, and builds the options of connections."""

import warnings
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

import environ
import psycopg
from django.core.exceptions import ImproperlyConfigured

from config.variables import read_text

SCHEMES = ("postgres", "postgresql", "postgis", "pgsql")
EXAMPLE = "postgres://user:password@host:5432/name"


@dataclass(frozen=True)
class TimeLimits:
    """Seconds that a statement may wait for a lock, and may take in total; 0 means no limit."""

    lock: float
    statement: float

    def build_settings(self) -> dict[str, str]:
        """Builds settings of PostgreSQL."""
        return {
            # a process that hangs inside a transaction must not keep its locks
            "idle_in_transaction_session_timeout": "30s",
            "lock_timeout": f"{self.lock * 1000:.0f}",
            "statement_timeout": f"{self.statement * 1000:.0f}",
            # a statement must not continue after its process has gone or was cut off
            "client_connection_check_interval": "1s",
        }


@dataclass(frozen=True)
class Databases:
    """Entries of DATABASES: of this process, of PostgreSQL itself, of a pooler, of a replica."""

    used: dict[str, Any]
    direct: dict[str, Any]
    pooled: dict[str, Any] | None = None
    replica: dict[str, Any] | None = None


def read_databases(url: str, *, pooler: str, kind: str, limits: TimeLimits) -> Databases:
    """Reads the addresses of the database. Raises ImproperlyConfigured.

    A pooler that changes connections after each transaction keeps neither prepared statements nor
    settings nor LISTEN. Commands such as `migrate` connect to PostgreSQL directly.
    """
    replica = _read_replica(limits)
    if not pooler:
        direct = build_database("DATABASE_URL", url, limits)
        return Databases(direct, direct, replica=replica)
    if not (direct_url := read_text("DATABASE_DIRECT_URL")):
        raise ImproperlyConfigured(
            f"DATABASE_POOLER is {pooler}, and DATABASE_DIRECT_URL is not set. Set it to {EXAMPLE}"
            " of PostgreSQL itself: commands, and calls that wait for an answer, need it."
        )
    pooled = build_database("DATABASE_URL", url, None)
    direct = build_database("DATABASE_DIRECT_URL", direct_url, limits)
    return Databases(direct if kind == "command" else pooled, direct, pooled, replica)


def _read_replica(limits: TimeLimits) -> dict[str, Any] | None:
    """Reads DATABASE_REPLICA_URL, which web servers use."""
    url = read_text("DATABASE_REPLICA_URL")
    replica = build_database("DATABASE_REPLICA_URL", url, limits) if url else None
    if replica:
        replica["OPTIONS"]["connect_timeout"] = 2  # the primary serves instead
    return replica


def build_database(name: str, url: str, limits: TimeLimits | None) -> dict[str, Any]:
    """Builds an entry of DATABASES; no limits stand for a pooler, which has its own.

    Raises ImproperlyConfigured.
    """
    given = _read_url(name, url)
    options = {
        **given.pop("OPTIONS", {}),
        "connect_timeout": 5,
        # a remote server that disappears without closing is noticed within a minute
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
        "application_name": "reviewloop",
    }
    _check_options(name, options)
    if limits:
        settings = (f"-c {key}={value}" for key, value in limits.build_settings().items())
        options["options"] = " ".join([options.get("options", ""), *settings]).strip()
    return {
        **given,
        "ENGINE": "db.postgresql",
        "HOST": unquote(given["HOST"]),  # a socket folder is percent-encoded
        "CONN_MAX_AGE": None,
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": limits is None,
        "OPTIONS": {
            **options,
            "server_side_binding": True,
            "prepare_threshold": 5 if limits else None,
        },
    }


def _read_url(name: str, url: str) -> dict[str, Any]:
    sentence = f"{name} cannot be used: {{}}. Set it to {EXAMPLE}, with %xx for special characters."
    if url.partition(":")[0].lower() not in SCHEMES:
        raise ImproperlyConfigured(sentence.format("it does not begin with postgres://"))
    try:
        has_fragment = bool(urlsplit(url).fragment)
        with warnings.catch_warnings(action="ignore"):
            given: dict[str, Any] = environ.Env.db_url_config(url)
    except ValueError:
        reason = "its user, password, host or port cannot be read"
        raise ImproperlyConfigured(sentence.format(reason)) from None
    if not given.get("NAME"):
        raise ImproperlyConfigured(sentence.format("it names no database"))
    if has_fragment:
        raise ImproperlyConfigured(sentence.format("it contains #"))
    return given


def _check_options(name: str, options: dict[str, Any]) -> None:
    try:
        psycopg.conninfo.make_conninfo(**options)
    except psycopg.ProgrammingError as error:
        raise ImproperlyConfigured(f"{name} has a parameter that cannot be used: {error}") from None
