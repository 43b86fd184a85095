"""Runs the migrations once for all parts of the suite."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from local.apps import MANAGE, ROOT
from local.datafolder import DataFolder
from local.postgres import Postgres
from local.pytest_plugin import PREPARED, SETTINGS, prepare_environment


@contextmanager
def prepared_cluster() -> Iterator[dict[str, str]]:
    """The variable that names a stopped cluster with all migrations, until the end of the block.

    Empty where DATABASE_URL names a server.
    """
    if os.environ.get("DATABASE_URL"):
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="review-loop-prepared-") as path:
        folder = DataFolder(Path(path))
        try:
            postgres = Postgres(folder.path, folder.sockets, SETTINGS)
            process = postgres.start()
            try:
                migrate(folder, postgres.url)
            finally:
                postgres.stop(process)
            yield {PREPARED: str(postgres.data)}
        finally:
            folder.close()


def migrate(folder: DataFolder, url: str) -> None:
    environment = {
        **os.environ,
        **prepare_environment(folder.path),
        "DATABASE_URL": url,
        "REDIS_URL": "redis://127.0.0.1:1",  # nothing of it is used
    }
    subprocess.run([*MANAGE, "migrate", "-v", "0"], cwd=ROOT, env=environment, check=True)
