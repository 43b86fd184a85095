"""`python -m bench [NAME ...]`: starts PostgreSQL and Redis of its own, measures, prints a table.

The servers keep their promises here (fsync on), unlike in tests.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from local.addresses import shared_environment
from local.datafolder import DataFolder
from local.postgres import Postgres
from local.redis import Redis

MEASUREMENTS = ("sweep", "webhooks")


@contextmanager
def servers() -> Iterator[None]:
    """Embedded servers in a folder that is thrown away, and the environment that names them."""
    folder = DataFolder(Path(tempfile.mkdtemp(prefix="review-loop-bench-")))
    postgres = Postgres(folder.path, folder.sockets, {"max_connections": "100"})
    redis = Redis(folder.path, folder.sockets)
    running = [(postgres, postgres.start())]
    try:
        running.append((redis, redis.start()))  # type: ignore[arg-type]
        named = {**os.environ, "DATABASE_URL": postgres.url, "REDIS_URL": redis.url}
        os.environ.update(shared_environment(named, folder, 8000))
        os.environ.update(DATA_DIR=str(folder.path), LOG_LEVEL="ERROR")
        yield
    finally:
        for server, process in reversed(running):
            server.stop(process)
        folder.close()
        shutil.rmtree(folder.path, ignore_errors=True)


def main(names: list[str]) -> None:
    unknown = set(names) - set(MEASUREMENTS)
    if unknown:
        sys.exit(f"There is no {', '.join(sorted(unknown))}; choose from {', '.join(MEASUREMENTS)}")
    with servers():
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        for name in names or MEASUREMENTS:
            module = __import__(f"bench.{name}", fromlist=["run"])
            print(module.run(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
