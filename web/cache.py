"""A cache that keeps the site working while Redis is unreachable.

Only throttles and other conveniences use the cache; it is never the only copy of data. Code that
must not run without its throttle calls `is_reachable` first.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import structlog
from django.core.cache import caches
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

T = TypeVar("T")
log = structlog.get_logger(__name__)


class FailOpenRedisCache(RedisCache):
    """Acts like an empty cache while Redis is unreachable."""

    def get(self, *args: Any, **kwargs: Any) -> Any:
        default = kwargs.get("default", args[1] if len(args) > 1 else None)
        return call_with_fallback(default, super().get, *args, **kwargs)

    def get_many(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        return call_with_fallback({}, super().get_many, *args, **kwargs)

    def add(self, *args: Any, **kwargs: Any) -> bool:
        # An empty cache accepts every key. With False, django-allauth would wait for a lock and
        # then refuse every sign-in.
        return call_with_fallback(True, super().add, *args, **kwargs)

    def set(self, *args: Any, **kwargs: Any) -> None:
        call_with_fallback(None, super().set, *args, **kwargs)

    def touch(self, *args: Any, **kwargs: Any) -> bool:
        return call_with_fallback(False, super().touch, *args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> bool:
        return call_with_fallback(False, super().delete, *args, **kwargs)

    def has_key(self, *args: Any, **kwargs: Any) -> bool:
        return call_with_fallback(False, super().has_key, *args, **kwargs)

    def incr(self, *args: Any, **kwargs: Any) -> Any:
        # None tells django-ratelimit that the count is unknown
        return call_with_fallback(None, super().incr, *args, **kwargs)

    def ping(self) -> bool:
        return call_with_fallback(False, lambda: bool(self._cache.get_client(write=True).ping()))


def is_reachable() -> bool:
    """Tells whether the cache works now and throttles count."""
    return cast(FailOpenRedisCache, caches["default"]).ping()


def call_with_fallback(fallback: T, operation: Callable[..., Any], *args: Any, **kwargs: Any) -> T:
    """Runs `operation` and returns its result, or `fallback` if Redis is unreachable."""
    try:
        result: T = operation(*args, **kwargs)
    except (RedisError, OSError) as error:
        log.warning("cache.unreachable", error=str(error))
        return fallback
    return result
