"""Profiles the CPU of a poll: `python -m bench.profile` reads a cast from its input, and prints
microseconds per poll by part, as JSON.

The application is called in this process, without a server. A timer of CPU time interrupts it,
and each interruption counts for the part that its innermost known frame belongs to.
"""

import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

from bench import api
from bench.cast import Cast
from local.apps import ROOT

SECONDS, INTERVAL = 10.0, 0.002
# Parts, each with a piece of its files' paths; the first match of a frame is its part.
PLACES = (
    ("statement: key and quota", "accounts/quota.py"),
    ("statement: the request", "django/db/backends/utils.py"),
    ("statement: the request", "psycopg/"),
    ("JSON", "json/encoder.py"),
    ("JSON", "json/__init__.py"),
    ("ORM", "django/db/models/"),
    ("DRF serializers", "rest_framework/serializers.py"),
    ("DRF serializers", "rest_framework/fields.py"),
    ("DRF view", "rest_framework/"),
    ("middleware", "middleware"),
    ("middleware", "/web/"),
    ("middleware", "structlog/"),
    ("middleware", "/db/time_limits.py"),
    ("middleware", "/db/lock_waits.py"),
    ("routing", "django/urls/"),
    ("our view and reading", "/reviews/"),
    ("our view and reading", "/loops/"),
    ("authentication", "/accounts/"),
    ("base view, envelope, headers", "/api/"),
    ("Django: request, response, handler", "django/"),
)


def part_of(frame: FrameType | None) -> str:
    """Returns the part that the innermost known frame belongs to."""
    while frame is not None:
        path = frame.f_code.co_filename.removeprefix(str(ROOT))
        for part, place in PLACES:
            if place in path:
                return part if part != "statement: the request" else statement_of(frame)
        frame = frame.f_back
    return "the measurement itself"


def statement_of(frame: FrameType | None) -> str:
    """Returns which of the two statements is running."""
    while frame is not None:
        if frame.f_code.co_filename.endswith("accounts/quota.py"):
            return "statement: key and quota"
        frame = frame.f_back
    return "statement: the request"


def build_meta(request: str) -> dict[str, Any]:
    """Builds the META of a GET from its text on the wire."""
    line, *headers = request.rstrip().split("\r\n")
    found: dict[str, Any] = {
        "REQUEST_METHOD": "GET",
        "PATH_INFO": line.split()[1],
        "QUERY_STRING": "",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.url_scheme": "http",
    }
    for header in headers:
        name, _, value = header.partition(": ")
        found["HTTP_" + name.upper().replace("-", "_")] = value
    return found


def sample(application: Callable[..., Any], requests: list[str]) -> dict[str, float]:
    """Measures microseconds of CPU per call, by part."""
    from web.asgi import Request

    counts: Counter[str] = Counter()

    def call(request: str) -> None:
        response = application(Request(build_meta(request), b""))
        b"".join(response)
        response.close()

    def interrupted(_signal: int, frame: FrameType | None) -> None:
        counts[part_of(frame)] += 1

    for request in requests:
        call(request)
    signal.signal(signal.SIGPROF, interrupted)
    signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)
    calls, end, spent = 0, time.monotonic() + SECONDS, time.process_time()
    while time.monotonic() < end:
        call(requests[calls % len(requests)])
        calls += 1
    spent = time.process_time() - spent
    signal.setitimer(signal.ITIMER_PROF, 0)
    each = spent / calls * 1_000_000 / counts.total()
    return {part: count * each for part, count in counts.most_common()}


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from config.asgi import application

    cast = Cast(**json.load(sys.stdin))
    print(json.dumps(sample(application, api.calls(cast)["poll"])))


if __name__ == "__main__":
    main()
