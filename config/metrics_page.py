"""The page /metrics: metrics of this process and its siblings, and of the database."""

import math
from collections.abc import Iterator

import structlog
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from db import connections, worker_status
from mailing import gauges as mailing
from reviews import gauges as reviews
from web import metrics
from webhooks import gauges as webhooks

log = structlog.get_logger(__name__)


class DatabaseNumbers(Collector):
    """Reads metrics from the database on each scrape. Every web server reports the same numbers."""

    def collect(self) -> Iterator[Metric]:
        try:
            found = [*self._read()]
        except (DatabaseError, InterfaceError) as error:
            log.warning("metrics.database_unreachable", error=str(error))
            found = [GaugeMetricFamily("reviewloop_database_up", "The database answers", 0)]
        yield from found

    def _read(self) -> Iterator[Metric]:
        yield GaugeMetricFamily("reviewloop_database_up", "The database answers", 1)
        lags = worker_status.read_lags()
        yield build(
            "sweep_lag_seconds",
            "Seconds since a sweep last ran or had nothing to do; infinite if it never has",
            "sweep",
            {name: lags.get(name, math.inf) for name in worker_status.EXPECTED_SWEEPS},
        )
        yield build(
            "open_requests",
            "Open requests of at most this age",
            "age",
            reviews.count_open_by_age(),
        )
        yield build(
            "oldest_due_seconds",
            "Seconds that the oldest delivery, push or email has waited since it was due",
            "kind",
            {
                "delivery": webhooks.read_oldest_due(),
                "queued_mail": mailing.read_oldest(),
                **reviews.read_oldest_due(),
            },
        )
        yield build(
            "open_circuits",
            "Hosts whose webhooks are paused",
            "",
            {"": webhooks.count_paused_hosts()},
        )
        yield build(
            "database_connections",
            "Connections to the database by state",
            "state",
            connections.count_by_state(),
        )
        yield build(
            "database_connections_limit",
            "Connections that the server allows",
            "",
            {"": connections.read_limit()},
        )


def build(name: str, text: str, label: str, values: dict[str, float] | dict[str, int]) -> Metric:
    """Builds a gauge with a value for each label, or one without any."""
    gauge = GaugeMetricFamily(f"reviewloop_{name}", text, labels=[label] if label else [])
    for key, value in values.items():
        gauge.add_metric([key] if label else [], value)
    return gauge


@never_cache
@require_safe
def show_metrics(request: HttpRequest) -> HttpResponse:
    """Returns the metrics to METRICS_NETWORKS and with METRICS_TOKEN; 404 to everybody else."""
    given = request.headers.get("Authorization", "")
    if not metrics.IS_ON or not metrics.is_allowed(request.META["REMOTE_ADDR"], given):
        return HttpResponse(status=404)
    return HttpResponse(metrics.render([DatabaseNumbers()]), content_type=CONTENT_TYPE_LATEST)
