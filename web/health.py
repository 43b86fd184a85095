"""The health checks /healthz and /readyz."""

from typing import Any

import structlog
from django.core.cache import caches
from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from redis import Redis
from redis.exceptions import RedisError

from db import worker_status
from db.writability import is_writable

log = structlog.get_logger(__name__)


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """Responds 200 as long as the process runs."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Returns 200 if the database is reachable, migrated and takes writes, otherwise 503.

    The response also reports Redis and the lag of background work: the seconds since each sweep
    last ran, null if it never ran. They do not affect the status, because the API works without
    them.
    """
    checks: dict[str, Any] = {"database": "ok", "migrations": "ok", "redis": redis_state()}
    try:
        if pending_migrations():
            checks["migrations"] = "pending"
        else:
            lags = worker_status.read_lags()
            checks["background"] = "late" if worker_status.find_late(lags) else "ok"
            never = dict.fromkeys(worker_status.EXPECTED_SWEEPS)
            checks["background_lag_seconds"] = {**never, **lags}
            if not is_writable(lags):
                checks["database"] = "not writable"
    except (DatabaseError, InterfaceError) as error:
        log.warning("readyz.database_unreachable", error=str(error))
        checks.update(database="unreachable", migrations="unknown")
    ready = checks["database"] == checks["migrations"] == "ok"
    status = "ok" if ready else "unavailable"
    return JsonResponse({"status": status, **checks}, status=200 if ready else 503)


def pending_migrations() -> bool:
    """Tells whether the database lacks a migration of the code."""
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def redis_state() -> str:
    """Returns `ok` or `unreachable`."""
    client: Redis = caches["default"]._cache.get_client()  # type: ignore[attr-defined]
    try:
        client.ping()
    except (RedisError, OSError):
        return "unreachable"
    return "ok"
