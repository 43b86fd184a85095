"""Starts PostgreSQL and Redis for the tests, unless DATABASE_URL and REDIS_URL name other servers.

With `--no-servers` it starts no server and runs only the tests that need none. pyproject.toml loads
it with `-p local.pytest_plugin`, before the settings.
"""

import contextlib
import os
import re
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from urllib.parse import quote

import pytest

from local import CannotStart
from local.datafolder import DataFolder
from local.postgres import Postgres, copy_cluster
from local.redis import Redis

ROOT = Path(__file__).resolve().parent.parent
PREFIX = "review-loop-test-"
# The database is deleted after the run, so it needs no durability. All workers need connections.
SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "max_connections": "300",
    # Kept for the standbys of tests: a standby needs the segments written before it streams, but
    # the checkpoint of another base backup would remove them.
    "wal_keep_size": "512MB",
}
# The variable with the folder of a stopped cluster with all migrations. The server starts from a
# copy of it. `make test` creates one for all of its parts.
PREPARED = "PREPARED_CLUSTER"
# The addresses for tests that need no server. The error of an attempt to connect shows this path.
UNSTARTED = "/not-started-because-of--no-servers"
UNSTARTED_SERVERS = {
    "DATABASE_URL": f"postgres://app@{quote(UNSTARTED, safe='')}/app",
    "REDIS_URL": f"unix://{UNSTARTED}/redis.sock?db=0",
}
# A test that uses one of these fixtures, directly or not, needs a server.
SERVER_FIXTURES = {
    *("db", "transactional_db", "django_db_setup", "live_server", "redis_server"),
    *(
        "made",
        "postgres",
        "new_postgres",
        "refusing_postgres",
        "chromium",
        "new_stack",
        "running",
        "short_trial",
    ),
}


def sweep_killed_runs() -> None:
    """Removes the folders of test runs that were killed."""
    for path in Path(tempfile.gettempdir()).glob(PREFIX + "*"):
        with contextlib.suppress(CannotStart, OSError):
            status = path.lstat()
            is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
            # A new folder may not be locked yet.
            if is_ours and time.time() - status.st_mtime > 3600:
                DataFolder(path).close()
                shutil.rmtree(path, ignore_errors=True)


class Servers:
    """The servers of one test run and their folder."""

    def __init__(self) -> None:
        self.folder = DataFolder(Path(tempfile.mkdtemp(prefix=PREFIX)))
        self.running: list[tuple[Postgres | Redis, subprocess.Popen[bytes]]] = []

    def start(self, *, is_needed: bool = True) -> None:
        os.environ.update(prepare_environment(self.folder.path))
        if not is_needed:
            os.environ.update(UNSTARTED_SERVERS)
        if not os.environ.get("DATABASE_URL"):
            postgres = Postgres(self.folder.path, self.folder.sockets, SETTINGS)
            if prepared := os.environ.get(PREPARED):
                copy_cluster(Path(prepared), postgres.data)
            self.running.append((postgres, postgres.start()))
            os.environ["DATABASE_URL"] = postgres.url
        if not os.environ.get("REDIS_URL"):
            redis = Redis(self.folder.path, self.folder.sockets)
            self.running.append((redis, redis.start()))
            os.environ["REDIS_URL"] = redis.url

    def stop(self) -> None:
        for server, process in reversed(self.running):
            server.stop(process)
        self.running.clear()
        self.folder.close()
        shutil.rmtree(self.folder.path, ignore_errors=True)


def prepare_environment(folder: Path) -> dict[str, str]:
    """Builds the settings of a test run and removes those that the developer has exported."""
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    for name in re.findall(r"^#?\s?([A-Z_]+)=", example, re.MULTILINE):
        if name not in ("DATABASE_URL", "REDIS_URL"):
            os.environ.pop(name, None)
    static = folder / "static"
    static.mkdir()
    return {
        "DATA_DIR": str(folder),
        "STATIC_ROOT": str(static),  # empty, so that files come from their sources
        "SECRET_KEY": "a key for tests alone, long enough for every check that there is",
        "ENCRYPTION_KEYS": "QSBrZXkgZm9yIHRlc3RzIGFsb25lLCAzMiBieXRlcyE=",
        "SITE_URL": "http://testserver",
        "WEBHOOK_OPEN_NETWORKS": "127.0.0.0/8,::1/128",
        "PUSH_OPEN_NETWORKS": "127.0.0.0/8,::1/128",
        "ALLOWED_HOSTS": "testserver,localhost,127.0.0.1",
    }


_servers: list[Servers] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--no-servers",
        action="store_true",
        help="run the tests that need neither PostgreSQL nor Redis, and start neither",
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None, object, object]:
    """Starts the servers before pytest-django reads the settings; xdist workers share them."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is not None:
        # each worker has its own two Redis databases, for broker and cache
        os.environ["REDIS_DATABASE"] = str(2 * int(worker.removeprefix("gw")))
    else:
        sweep_killed_runs()
        servers = Servers()
        _servers.append(servers)
        try:
            servers.start(is_needed=not early_config.known_args_namespace.no_servers)
        except CannotStart as error:
            raise pytest.UsageError(str(error)) from error
    return (yield)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects the tests that need a server if --no-servers is set."""
    if not config.getoption("no_servers"):
        return
    serverless = [item for item in items if not needs_server(item)]
    config.hook.pytest_deselected(items=[item for item in items if needs_server(item)])
    items[:] = serverless


def needs_server(item: pytest.Item) -> bool:
    fixtures = set(getattr(item, "fixturenames", ()))
    return item.get_closest_marker("django_db") is not None or bool(fixtures & SERVER_FIXTURES)


def pytest_unconfigure() -> None:
    while _servers:
        _servers.pop().stop()
