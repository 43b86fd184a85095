"""Reads responses of the API: the data, or the error."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any

import requests

from reviewloop.errors import get_error_class


@dataclass(frozen=True)
class Result:
    """The `data` of a success, and its headers.

    `may_have_run` tells that the response to an earlier attempt was lost.
    """

    data: Any
    headers: Any
    may_have_run: bool = False


def read_result(response: requests.Response, repeats: int) -> Result:
    """Reads a response. Raises ApiError."""
    status = response.status_code
    try:
        body = response.json()
        is_envelope = isinstance(body, dict) and {"error", "msg", "data"} <= body.keys()
    except ValueError:
        is_envelope = False
    if not is_envelope:
        target = response.headers.get("Location")
        sentence = f"Redirected to {target}" if target else response.reason or "Not JSON"
        # a success in another format comes from an intermediary, perhaps temporarily
        status = 502 if response.ok and not target else status
        error = get_error_class(status)(status, sentence, {})
    elif not body["error"] and response.ok:
        return Result(body["data"], response.headers)
    else:
        error = get_error_class(status, body["data"])(status, body["msg"], body["data"])
    error.retry_after = read_retry_after(response.headers.get("Retry-After"))
    error.repeats = repeats
    raise error


def read_retry_after(header: str | None) -> float | None:
    """Reads seconds or a date; None if there is neither."""
    if header is None:
        return None
    if header.strip().isdecimal():
        return float(header)
    try:
        moment = parsedate_to_datetime(header)
    except (TypeError, ValueError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return max(0.0, (moment - datetime.now(timezone.utc)).total_seconds())
