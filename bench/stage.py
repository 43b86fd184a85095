"""Starts embedded servers for the measurements, and fills databases on demand."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psycopg

from bench.cast import Cast
from bench.serving import Load, load
from local.apps import ROOT
from local.datafolder import DataFolder
from local.environment import build_environment
from local.postgres import Postgres
from local.redis import Redis


def say(text: str) -> None:
    print(text, flush=True)


@dataclass
class Stage:
    """The servers; `casts` belong to the databases that were filled so far."""

    postgres: Postgres
    postmaster: int
    load: Load
    casts: dict[str, Cast] = field(default_factory=dict)

    def database(self, size: str) -> str:
        return f"{self.postgres.url.rpartition('/')[0]}/bench_{size.lower()}"

    def cast(self, size: str, count: int) -> Cast:
        """Returns the cast of the database of this size; the first call fills it."""
        if size not in self.casts:
            started = time.monotonic()
            with psycopg.connect(self.postgres.url, autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE bench_{size.lower()}")
            told = self._run(size, "bench.cast", str(count))
            self.casts[size] = Cast(**json.loads(told))
            say(f"{count:,} requests are there after {time.monotonic() - started:.0f} s")
        return self.casts[size]

    def profile(self, size: str, cast: Cast) -> dict[str, float]:
        """Returns microseconds of CPU per poll, by part of the application."""
        found: dict[str, float] = json.loads(
            self._run(size, "bench.profile", told=json.dumps(asdict(cast)))
        )
        return found

    def _run(self, size: str, module: str, *arguments: str, told: str = "") -> str:
        return subprocess.run(
            [sys.executable, "-m", module, *arguments],
            cwd=ROOT,
            env={**os.environ, "DATABASE_URL": self.database(size)},
            input=told,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout

    @contextmanager
    def upkeep(self, size: str) -> Iterator[None]:
        """Aggregates the totals of a database every second, as beat and a worker do."""
        process = subprocess.Popen(
            [sys.executable, "-m", "bench.upkeep"],
            cwd=ROOT,
            env={**os.environ, "DATABASE_URL": self.database(size)},
            stdin=subprocess.PIPE,
        )
        try:
            yield
        finally:
            process.communicate()

    def use(self) -> None:
        """Sets Django up in this process, with a database of its own."""
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)


@contextmanager
def stage() -> Iterator[Stage]:
    """Starts embedded servers in a temporary folder, and sets the environment for them."""
    folder = DataFolder(Path(tempfile.mkdtemp(prefix="review-loop-bench-")))
    postgres = Postgres(folder.path, folder.sockets, {"max_connections": "400"})
    redis = Redis(folder.path, folder.sockets)
    running = [(postgres, postgres.start())]
    try:
        running.append((redis, redis.start()))  # type: ignore[arg-type]
        named = {**os.environ, "DATABASE_URL": postgres.url, "REDIS_URL": redis.url}
        os.environ.update(build_environment(named, folder, 8000))
        os.environ.update(DATA_DIR=str(folder.path), LOG_LEVEL="ERROR")
        with load() as caller:
            yield Stage(postgres, running[0][1].pid, caller)
    finally:
        for server, process in reversed(running):
            server.stop(process)
        folder.close()
        shutil.rmtree(folder.path, ignore_errors=True)
