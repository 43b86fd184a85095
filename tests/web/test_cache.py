"""The cache fails open: a lost Redis is an empty cache."""

from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from web.cache import FailOpenRedisCache, is_reachable


def test_a_redis_out_of_reach_is_an_empty_cache(tmp_path: Path) -> None:
    cache = FailOpenRedisCache(f"unix://{tmp_path}/nobody.sock", {})
    cache.set("a", 1)
    assert cache.get("a") is None
    assert cache.get("a", 7) == 7
    assert cache.get("a", default=8) == 8
    assert cache.get_many(["a"]) == {}
    assert cache.add("a", 1) is True
    assert cache.incr("a") is None
    assert not any([cache.touch("a"), cache.delete("a"), cache.has_key("a"), cache.ping()])


@pytest.mark.usefixtures("redis_server")
def test_what_must_be_throttled_can_ask(settings: Settings, tmp_path: Path) -> None:
    assert is_reachable()
    gone: dict[str, Any] = {**settings.CACHES["default"], "LOCATION": f"unix://{tmp_path}/gone"}
    settings.CACHES = {"default": gone}
    assert not is_reachable()
