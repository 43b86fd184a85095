"""Reads the service's address and the key, from arguments or the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass
from urllib.parse import urlsplit

from reviewloop.errors import ConfigurationError


@dataclass(frozen=True)
class Secret:
    """A kind of secret of clients: its environment variable, and its name in messages."""

    variable: str
    words: str


API_KEY = Secret("REVIEW_LOOP_KEY", "an API key, such as rl_live_…")


def read_url(url: str | None) -> str:
    """Returns the address of the API, which ends in /v1. Raises ConfigurationError."""
    given = (url or os.environ.get("REVIEW_LOOP_URL", "")).strip().rstrip("/")
    if not given:
        raise ConfigurationError(
            "REVIEW_LOOP_URL is not set: it is the service's address, such as "
            "http://127.0.0.1:8000/v1"
        )
    parts = urlsplit(given)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ConfigurationError(f"{given!r} is no address: it begins with http:// or https://")
    return given if parts.path.endswith("/v1") else f"{given}/v1"


def read_key(key: str | None, secret: Secret = API_KEY) -> str:
    """Returns the key. Raises ConfigurationError."""
    given = (key or os.environ.get(secret.variable, "")).strip()
    if not given:
        raise ConfigurationError(f"{secret.variable} is not set: it is {secret.words}")
    if not (given.isascii() and given.isprintable()):
        what = secret.words.partition(",")[0].partition(" ")[2]
        raise ConfigurationError(
            f"{secret.variable} is no {what}: it has other characters than those"
        )
    return given
