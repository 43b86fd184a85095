"""`Authorization: Bearer <API_KEY>`: the six ways to fail, and the caller of a call that does
not (specification, Authentication)."""

import re
import time
from contextlib import suppress
from dataclasses import dataclass

from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, QueryDict
from django_ratelimit.core import get_usage

from accounts import quota
from api.errors import (
    EmptyKey,
    InactiveKey,
    InvalidKey,
    KeyRequired,
    MalformedAuthorization,
    MissingAuthorization,
    RateLimited,
    Unauthorized,
)
from db.times import iso_from_unix

_BEARER = re.compile(r"Bearer (\S+)\Z")


@dataclass(slots=True)
class Call:
    """A call to the API once its key is read."""

    http: HttpRequest
    user: quota.Account
    auth: quota.Caller

    @property
    def query_params(self) -> QueryDict:
        return self.http.GET


class KeyAuthentication:
    """Reads the key of a call and charges the call to it."""

    def admit(self, request: HttpRequest) -> Call:
        """The call, charged. Raises Unauthorized, RateLimited."""
        try:
            caller = identify(request.META.get("HTTP_AUTHORIZATION"))
        except Unauthorized:
            throttle_failures(request)
            raise
        return Call(request, caller.account, caller)

    def peek(self, request: HttpRequest) -> quota.Quota | None:
        """What is left of a key's hour, without a charge; None without a usable key."""
        match = _BEARER.match(request.META.get("HTTP_AUTHORIZATION", ""))
        caller = None
        with suppress(DatabaseError, InterfaceError):  # the answer stands without it
            caller = quota.look(match[1]) if match else None
        return caller.quota if caller and caller.usable else None


def identify(header: str | None) -> quota.Caller:
    """The caller behind an Authorization header, charged for one call. Raises Unauthorized."""
    caller = quota.charge(read_key(header))
    if caller is None:
        raise InvalidKey
    if not caller.usable:
        raise InactiveKey
    return caller


def read_key(header: str | None) -> str:
    """The key in an Authorization header. Raises Unauthorized."""
    if header is None:
        raise MissingAuthorization
    if not header.strip():
        raise KeyRequired
    if header.rstrip(" ") == "Bearer":
        raise EmptyKey
    match = _BEARER.match(header)
    if match is None:
        raise MalformedAuthorization
    return match[1]


def throttle_failures(request: HttpRequest) -> None:
    """Refuses an address that keeps presenting bad keys; valid keys never come here."""
    usage = get_usage(
        request, group="failed-keys", key="ip", rate=settings.FAILED_KEY_RATE, increment=True
    )
    if usage is None or not usage["should_limit"]:
        return
    wait = max(1, usage["time_left"])
    raise RateLimited(
        {
            "usage_count": usage["count"],
            "usage_limit": usage["limit"],
            "remaining": 0,
            "reset_at": iso_from_unix(int(time.time()) + wait),
        },
        retry_after=wait,
    )
