"""Counts calls, deliveries and failures of this process for /metrics, if metrics are on.

prometheus_client stores the numbers of several processes in files below PROMETHEUS_MULTIPROC_DIR,
which has to be set before the import of this module.
"""

import hmac
import ipaddress
import os
from collections.abc import Iterable

from django.conf import settings
from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

IS_ON = bool(settings.METRICS_TOKEN or settings.METRICS_NETWORKS)
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
CALLS = Counter("reviewloop_calls", "Calls", ["method", "route", "status"])
SECONDS = Histogram(
    "reviewloop_call_seconds",
    "How long calls took",
    ["route"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
QUOTA_REFUSALS = Counter("reviewloop_quota_refusals", "Calls refused because a quota was used up")
ATTEMPTS = Counter("reviewloop_delivery_attempts", "Attempts of webhooks", ["outcome"])
PUSHES = Counter("reviewloop_pushes", "Attempts of push notifications", ["outcome"])
MAIL_FAILURES = Counter(
    "reviewloop_mail_failures", "Attempts to send an email that failed", ["kind"]
)


def note_call(*, method: str, route: str, status: int, seconds: float) -> None:
    """Counts a call that has ended."""
    if IS_ON:
        method = method if method in METHODS else "other"  # clients may send any text
        CALLS.labels(method, route or "none", str(status)).inc()
        SECONDS.labels(route or "none").observe(seconds)


def note_quota_refusal() -> None:
    """Counts a call that was refused with 429."""
    if IS_ON:
        QUOTA_REFUSALS.inc()


def note_attempt(outcome: str) -> None:
    """Counts an attempt of a webhook."""
    if IS_ON:
        ATTEMPTS.labels(outcome).inc()


def note_push(outcome: str) -> None:
    """Counts an attempt of a push."""
    if IS_ON:
        PUSHES.labels(outcome).inc()


def note_mail_failure(kind: str) -> None:
    """Counts an email that could not be sent: one about requests, or one of the queue."""
    if IS_ON:
        MAIL_FAILURES.labels(kind).inc()


def is_allowed(address: str, authorization: str) -> bool:
    """Tells whether a caller may read the metrics: from METRICS_NETWORKS, or with METRICS_TOKEN."""
    token = f"Bearer {settings.METRICS_TOKEN}"
    if settings.METRICS_TOKEN and hmac.compare_digest(authorization.encode(), token.encode()):
        return True
    try:
        caller = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(caller in network for network in settings.METRICS_NETWORKS)


def render(more: Iterable[Collector] = ()) -> bytes:
    """Renders the numbers of all processes that share the folder, and those of `more`."""
    registry = CollectorRegistry()
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    else:
        registry.register(REGISTRY)
    for collector in more:
        registry.register(collector)
    return generate_latest(registry)
