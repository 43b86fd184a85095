"""Finds the account of a call by `Authorization: Bearer <API_KEY>` (docs/contract.md, `auth`)."""

import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, QueryDict
from django_ratelimit.core import get_usage

from accounts import quota, review_quota
from api.errors import (
    EmptyKey,
    EndedReviewToken,
    InactiveKey,
    InvalidKey,
    InvalidReviewToken,
    KeyRequired,
    MalformedAuthorization,
    MissingAuthorization,
    RateLimited,
    Unauthorized,
)
from db.times import iso_from_unix
from webhooks.trace_context import read_traceparent

ASKED_THROUGH = "api.asked_through"  # in the environment of a call
FindCaller = Callable[[str], quota.Caller | None]
"""Finds the caller of a key. `charge` of `accounts.quota` also charges the call, `find_caller` does
not.
"""

HEADER_ERRORS: tuple[type[Unauthorized], ...] = (
    MissingAuthorization,
    KeyRequired,
    MalformedAuthorization,
    EmptyKey,
)

_BEARER = re.compile(r"Bearer (\S+)\Z", re.ASCII)  # é and à arrive as Latin-1, à with a blank


@dataclass(frozen=True, slots=True)
class Credentials:
    """A kind of secret of calls: how to find its caller, and the errors for a wrong one.

    `limit` is the name of the setting with its calls per hour.
    """

    charge: FindCaller
    find_caller: FindCaller
    invalid: type[Unauthorized]
    ended: type[Unauthorized]
    limit: str

    @property
    def errors(self) -> list[type[Unauthorized]]:
        """All errors of an Authorization header."""
        return [*HEADER_ERRORS, self.invalid, self.ended]


API_KEYS = Credentials(
    quota.charge,
    quota.find_caller,
    InvalidKey,
    InactiveKey,
    "API_HOURLY_LIMIT",
)
REVIEW_TOKENS = Credentials(
    review_quota.charge,
    review_quota.find_caller,
    InvalidReviewToken,
    EndedReviewToken,
    "REVIEW_HOURLY_LIMIT",
)


@dataclass(slots=True)
class Call:
    """An API call with a valid key or review token."""

    request: HttpRequest
    account: quota.Account
    caller: quota.Caller

    @property
    def query_params(self) -> QueryDict:
        return self.request.GET

    @property
    def asked_through(self) -> str:
        """The intermediary that made this call for the client, such as MCP; '' for none."""
        return str(self.request.META.get(ASKED_THROUGH, ""))

    @property
    def traceparent(self) -> str | None:
        """The trace that the call belongs to (W3C Trace Context)."""
        return read_traceparent(self.request.META.get("HTTP_TRACEPARENT"))


def authenticate(request: HttpRequest, find: FindCaller, kind: Credentials) -> Call:
    """Finds the caller of the key in the header. Raises Unauthorized, RateLimited."""
    try:
        caller = _find_usable(request.META.get("HTTP_AUTHORIZATION"), find, kind)
    except Unauthorized:
        throttle_failures(request)
        raise
    return Call(request, caller.account, caller)


def read_quota(request: HttpRequest, kind: Credentials) -> quota.Quota | None:
    """Returns the key's quota without charging a call; None without a usable key."""
    match = _BEARER.match(request.META.get("HTTP_AUTHORIZATION", ""))
    caller = None
    with suppress(DatabaseError, InterfaceError):  # the response does not depend on the quota
        caller = kind.find_caller(match[1]) if match else None
    return caller.quota if caller and caller.usable else None


def _find_usable(header: str | None, find: FindCaller, kind: Credentials) -> quota.Caller:
    caller = find(read_key(header))
    if caller is None:
        raise kind.invalid
    if not caller.usable:
        raise kind.ended
    return caller


def read_key(header: str | None) -> str:
    """Reads the key from an Authorization header. Raises Unauthorized."""
    if header is None:
        raise MissingAuthorization
    if not header.strip(" \t"):
        raise KeyRequired
    if header.rstrip(" ") == "Bearer":
        raise EmptyKey
    match = _BEARER.match(header)
    if match is None:
        raise MalformedAuthorization
    return match[1]


def throttle_failures(request: HttpRequest) -> None:
    """Limits how many invalid keys an IP address may send. Raises RateLimited.

    Calls with a valid key are not counted.
    """
    usage = get_usage(
        request, group="failed-keys", key="ip", rate=settings.FAILED_KEY_RATE, increment=True
    )
    if usage is None or not usage["should_limit"]:
        return
    retry_after = max(1, usage["time_left"])
    raise RateLimited(
        {
            "usage_count": usage["count"],
            "usage_limit": usage["limit"],
            "remaining": 0,
            "reset_at": iso_from_unix(int(time.time()) + retry_after),
        },
        retry_after=retry_after,
    )
