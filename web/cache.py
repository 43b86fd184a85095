"""The cache fails open: throttles and other conveniences live there, never the truth. What must
not go on without its throttle asks `is_reachable` first."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import structlog
from django.core.cache import caches
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

T = TypeVar("T")
log = structlog.get_logger(__name__)


class FailOpenRedisCache(RedisCache):
    """Answers as an empty cache while Redis is out of reach."""

    def get(self, *args: Any, **kwargs: Any) -> Any:
        default = kwargs.get("default", args[1] if len(args) > 1 else None)
        return attempt(default, super().get, *args, **kwargs)

    def get_many(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        return attempt({}, super().get_many, *args, **kwargs)

    def add(self, *args: Any, **kwargs: Any) -> bool:
        # An empty cache takes everything. False would make django-allauth wait for a lock, and
        # then let nobody sign in.
        return attempt(True, super().add, *args, **kwargs)

    def set(self, *args: Any, **kwargs: Any) -> None:
        attempt(None, super().set, *args, **kwargs)

    def touch(self, *args: Any, **kwargs: Any) -> bool:
        return attempt(False, super().touch, *args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> bool:
        return attempt(False, super().delete, *args, **kwargs)

    def has_key(self, *args: Any, **kwargs: Any) -> bool:
        return attempt(False, super().has_key, *args, **kwargs)

    def incr(self, *args: Any, **kwargs: Any) -> Any:
        # None tells django-ratelimit that the count is unknown
        return attempt(None, super().incr, *args, **kwargs)

    def ping(self) -> bool:
        return attempt(False, lambda: bool(self._cache.get_client(write=True).ping()))


def is_reachable() -> bool:
    """Whether throttles count at this moment."""
    return cast(FailOpenRedisCache, caches["default"]).ping()


def attempt(fallback: T, operation: Callable[..., Any], *args: Any, **kwargs: Any) -> T:
    """What `operation` returns, or `fallback` while Redis is out of reach."""
    try:
        result: T = operation(*args, **kwargs)
    except (RedisError, OSError) as error:
        log.warning("cache.unreachable", error=str(error))
        return fallback
    return result
