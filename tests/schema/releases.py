"""What the last release had: its migrations, and a database with its tables."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from django.db import connection
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from tests.serving import database_url

FILE = Path(__file__).with_name("released.txt")
Key = tuple[str, str]


def read_released() -> list[Key]:
    """The last migration of each of our apps in the last release."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    named = (line.partition(".") for line in lines if not line.startswith("#"))
    return [(app, name) for app, _, name in named]


def list_new(loader: MigrationLoader) -> dict[Key, Migration]:
    """The migrations of our apps that the last release did not have."""
    released = read_released()
    old = {key for target in released for key in loader.graph.forwards_plan(target)}
    apps = {app for app, _ in released}
    found = loader.disk_migrations
    return {key: found[key] for key in sorted(found) if key[0] in apps and key not in old}


@contextmanager
def other_database(name: str) -> Iterator[None]:
    """Within, Django uses a new, empty database of the same server."""
    name = f"{name}_{os.getpid()}"
    given = connection.settings_dict
    before = given["NAME"]
    server_url = database_url().rpartition("/")[0] + "/postgres"
    with psycopg.connect(server_url, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name} TEMPLATE template0")
        connection.close()
        given["NAME"] = name
        try:
            yield
        finally:
            connection.close()
            given["NAME"] = before
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def migrate_to_release() -> None:
    MigrationExecutor(connection).migrate(read_released())
