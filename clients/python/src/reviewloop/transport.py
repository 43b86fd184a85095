"""Sends calls to the API, and repeats them after temporary failures."""

from __future__ import annotations

import json
import logging
import random
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http.cookiejar import DefaultCookiePolicy
from math import inf
from time import monotonic, sleep
from typing import Any

import requests
from requests.auth import AuthBase

from reviewloop.configuration import API_KEY, Secret, read_key, read_url
from reviewloop.errors import (
    ApiError,
    ConnectionFailed,
    NotFound,
    RateLimited,
    ReceiptConflict,
    ReviewLoopError,
    StateConflict,
)
from reviewloop.responses import Result, read_result

log = logging.getLogger("reviewloop")

__version__ = "0.1.0"
CONNECT_SECONDS = 10.0
READ_SECONDS = 30.0
LATE_SECONDS = 5.0  # for a response that comes late to a call with a patience of its own
FIRST_PAUSE = 0.5
MAX_PAUSE = 30.0
# The connection broke or was never established.
BROKEN = (
    requests.ConnectionError,
    requests.Timeout,
    requests.exceptions.ChunkedEncodingError,
)
# Of TLS: a wrong certificate stays wrong, and so does a server without TLS. A handshake that broke
# may pass.
WRONG = ("CERTIFICATE_VERIFY_FAILED", "WRONG_VERSION_NUMBER")
PASSING = (408, 409, 429)  # and all from 500 on


class Transport:
    """Calls one service with one key; several threads may share it.

    `patience` is the number of seconds for which a call is repeated.
    """

    def __init__(
        self, url: str | None, key: str | None, patience: float, secret: Secret = API_KEY
    ) -> None:
        self.url = read_url(url)
        self.patience = patience
        self._session = requests.Session()
        self._session.auth = Bearer(read_key(key, secret))
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))

    def call(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        params: dict[str, Any] | None = None,
        idempotency_key: str | None = None,
        traceparent: str | None = None,
        read_seconds: float = READ_SECONDS,
        patience: float | None = None,
        sit_out_quota: bool = False,
    ) -> Result:
        """Returns the response of the API. Raises ApiError, ConnectionFailed.

        It repeats the call for `patience` seconds, after which a response may come LATE_SECONDS
        late; without it for those of the transport, however slow the responses are. With
        `sit_out_quota` a 429 does not count against them.
        """
        send = partial(
            self._session.request,
            method,
            self.url + path,
            params=params,
            data=None if body is None else json.dumps(body, allow_nan=False).encode(),
            headers=build_headers(body, idempotency_key, traceparent),
            allow_redirects=False,
        )
        attempts = Patience(self.patience if patience is None else patience)
        while True:
            longest = inf if patience is None else attempts.left + LATE_SECONDS
            try:
                with self.connecting():
                    response = send(
                        timeout=(min(CONNECT_SECONDS, longest), min(read_seconds, longest))
                    )
                result = read_result(response, attempts.repeats)
                return replace(result, may_have_run=attempts.may_have_run)
            except (ApiError, ConnectionFailed) as failure:
                attempts.sit_out(failure, is_quota_free=sit_out_quota)

    def delete(self, path: str) -> None:
        """Deletes what has this path. Raises NotFound unless an earlier attempt deleted it."""
        try:
            self.call("DELETE", path)
        except NotFound as error:
            if not error.repeats:
                raise

    def open(self, path: str, last_id: str, read_seconds: float) -> requests.Response:
        """Opens a stream of events, once. Raises ApiError, ConnectionFailed."""
        headers = {**build_headers(None, None, None), "Accept": "text/event-stream"}
        with self.connecting():
            response = self._session.get(
                self.url + path,
                headers={**headers, **({"Last-Event-ID": last_id} if last_id else {})},
                timeout=(CONNECT_SECONDS, read_seconds),
                allow_redirects=False,
                stream=True,
            )
            kind = response.headers.get("Content-Type", "")
            if not (response.ok and kind.startswith("text/event-stream")):
                read_result(response, 0)  # raises ApiError
                raise ConnectionFailed(f"{self.url}: {kind} is no stream of events")
        return response

    @contextmanager
    def connecting(self) -> Iterator[None]:
        """Converts exceptions of requests to ConnectionFailed."""
        try:
            yield
        except requests.RequestException as error:
            may_pass = isinstance(error, BROKEN) and find_tls_reason(error) not in WRONG
            raise ConnectionFailed(f"{self.url}: {error}", may_pass=may_pass) from error

    def close(self) -> None:
        """Closes the connections."""
        self._session.close()


def find_tls_reason(error: BaseException | None) -> str | None:
    """The name that OpenSSL gives to a failure, if it was one of TLS."""
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return error.reason
        error = error.__cause__ or error.__context__
    return None


class Patience:
    """Pauses between attempts, and gives up after `seconds`."""

    def __init__(self, seconds: float) -> None:
        self.repeats = 0
        self.may_have_run = False
        self._ends_at = monotonic() + seconds

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return max(0.0, self._ends_at - monotonic())

    def sit_out(self, failure: ApiError | ConnectionFailed, *, is_quota_free: bool) -> None:
        """Sleeps until the next attempt. Raises the failure if a retry is useless."""
        if isinstance(failure, ConnectionFailed):
            may_pass = failure.may_pass
            self.may_have_run = True
        else:
            is_final = isinstance(failure, (ReceiptConflict, StateConflict))
            may_pass = (failure.status in PASSING and not is_final) or failure.status >= 500
            self.may_have_run |= failure.status == 408 or failure.status >= 500
        pause = choose_pause(failure, self.repeats)
        if is_quota_free and isinstance(failure, RateLimited):
            self._ends_at += pause
        if not may_pass or monotonic() + pause > self._ends_at:
            raise failure
        log.warning("%s; trying again in %.0f s", failure, pause)
        sleep(pause)
        self.repeats += 1


def build_headers(
    body: Any, idempotency_key: str | None, traceparent: str | None
) -> dict[str, str]:
    headers = {"Accept": "application/json", "User-Agent": f"reviewloop-python/{__version__}"}
    if body is not None:
        headers["Content-Type"] = "application/json"
    if idempotency_key is not None:
        headers["Idempotency-Key"] = idempotency_key
    if traceparent is not None:
        headers["traceparent"] = traceparent
    return headers


class Bearer(AuthBase):
    """Sends the key. An `auth` takes precedence over a .netrc file, unlike a plain header."""

    def __init__(self, key: str) -> None:
        self._key = key

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._key}"
        return request


def choose_pause(failure: ReviewLoopError, repeats: int) -> float:
    """Returns the seconds to the next attempt: those of the API, else doubled each time."""
    spread = random.uniform(0.5, 1.0)  # noqa: S311 (not a secret: clients must not call in step)
    growing = min(FIRST_PAUSE * 2.0 ** min(repeats, 20), MAX_PAUSE) * spread
    named = failure.retry_after if isinstance(failure, ApiError) else None
    return growing if named is None else max(growing, named + spread * FIRST_PAUSE)
