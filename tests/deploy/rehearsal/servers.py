"""PostgreSQL, Redis and PgBouncer of an installation, each with a folder and sockets of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from local.datafolder import DataFolder
from local.postgres import Postgres
from local.redis import Redis
from tests.deploy.pooler import pooling


@dataclass(frozen=True)
class Servers:
    """Their addresses."""

    direct: str
    pooled: str
    redis: str


@contextmanager
def running_servers(path: Path) -> Iterator[Servers]:
    """A new cluster, an empty Redis and a pooler, for the length of the block."""
    folder = DataFolder(path)
    postgres = Postgres(path, folder.sockets, {"max_connections": "200"})
    redis = Redis(path, folder.sockets)
    database = postgres.start()
    try:
        broker = redis.start()
        try:
            with pooling(path, host=str(folder.sockets), user="app", name="app") as pooled:
                yield Servers(postgres.url, pooled, redis.url)
        finally:
            redis.stop(broker)
    finally:
        postgres.stop(database)
        folder.close()
