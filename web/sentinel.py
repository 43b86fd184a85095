"""Connects the cache to the Redis server that Sentinel names as the primary."""

from typing import Any, Self

from redis.sentinel import Sentinel, SentinelConnectionPool


class SentinelPool(SentinelConnectionPool):
    """Connections to the primary of a group; after a failover, to the new one."""

    @classmethod
    def from_url(cls, url: str, **options: Any) -> Self:
        """Creates a pool for Django's cache; `url` is the name of the group."""
        options = dict(options)
        sentinels = options.pop("sentinels")
        manager = Sentinel(sentinels, sentinel_kwargs=options.pop("sentinel_options"))  # type: ignore[no-untyped-call]
        return cls(url, manager, **options)
