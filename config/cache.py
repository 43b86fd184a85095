"""The cache fails open: throttles and other conveniences live there, never the truth."""

from typing import Any

import structlog
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

log = structlog.get_logger(__name__)


class FailOpenRedisCache(RedisCache):
    """Answers as an empty cache while Redis is out of reach."""

    def get(self, *args: Any, **kwargs: Any) -> Any:
        default = kwargs.get("default", args[1] if len(args) > 1 else None)
        return self._or(default, super().get, *args, **kwargs)

    def get_many(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        return self._or({}, super().get_many, *args, **kwargs)

    def add(self, *args: Any, **kwargs: Any) -> bool:
        return self._or(False, super().add, *args, **kwargs)

    def set(self, *args: Any, **kwargs: Any) -> None:
        self._or(None, super().set, *args, **kwargs)

    def touch(self, *args: Any, **kwargs: Any) -> bool:
        return self._or(False, super().touch, *args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> bool:
        return self._or(False, super().delete, *args, **kwargs)

    def has_key(self, *args: Any, **kwargs: Any) -> bool:
        return self._or(False, super().has_key, *args, **kwargs)

    def incr(self, *args: Any, **kwargs: Any) -> int:
        # None tells django-ratelimit that the count is unknown
        return self._or(None, super().incr, *args, **kwargs)

    def _or(self, fallback: Any, operation: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return operation(*args, **kwargs)
        except (RedisError, OSError) as error:
            log.warning("cache.unreachable", error=str(error))
            return fallback
