"""Finds pg_dump, pg_restore and psql, and builds their connection settings."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import connection
from psycopg.conninfo import make_conninfo

from config.backups import Refused
from local import CannotStart
from local.postgres import find_binaries

PACKAGED = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin")  # Debian, Red Hat
NAMES = ("pg_dump", "pg_restore", "psql")
# Options of psycopg and Django that libpq lacks, and time limits, which would end a long dump.
NOT_FOR_PROGRAMS = {"context", "cursor_factory", "prepare_threshold", "options", "password"}
ENCRYPTED = ("require", "verify-ca", "verify-full")


@dataclass(frozen=True)
class Programs:
    """The folder of programs of one version of PostgreSQL."""

    folder: Path
    major: int

    def get(self, name: str) -> str:
        return str(self.folder / name)


def find_programs(at_least: int = 0) -> Programs:
    """Finds programs as new as the server and `at_least`, or newer. Raises Refused.

    Prefers the version nearest to the server's: newer programs may write statements that it does
    not know.
    """
    server = read_major()
    needed = max(server, at_least)
    found = [*_list_found()]
    fitting = [each for each in found if each.major >= needed]
    if fitting:
        return min(fitting, key=lambda each: each.major)
    advice = f"install those of version {needed}, in Debian postgresql-client-{needed}"
    if found:
        newest = max(each.major for each in found)
        raise Refused(
            f"pg_dump, pg_restore and psql have version {newest}, and version {needed} is needed:"
            f" {advice}."
        )
    raise Refused(f"pg_dump, pg_restore and psql are not installed: {advice}.")


def read_major() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version_num')::int / 10000")
        return int(cursor.fetchone()[0])


def describe_connection() -> tuple[str, dict[str, str]]:
    """Returns the conninfo of the database and the environment of programs that use it.

    The password is in the environment, because everybody can read the arguments of processes.
    """
    given: dict[str, Any] = connection.get_connection_params()
    ours = {name: value for name, value in given.items() if name not in NOT_FOR_PROGRAMS}
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    if password := given.get("password"):
        environment["PGPASSWORD"] = password
    return make_conninfo("", **{**ours, "application_name": "reviewloop backup"}), environment


def _list_found() -> Iterator[Programs]:
    folders = [folder for pattern in PACKAGED for folder in Path("/").glob(pattern[1:])]
    if on_path := shutil.which("pg_restore"):
        folders.append(Path(on_path).parent)
    # those of the wheel cannot encrypt connections
    if connection.get_connection_params().get("sslmode") not in ENCRYPTED:
        with suppress(CannotStart):
            folders.append(find_binaries())
    for folder in folders:
        if all((folder / name).exists() for name in NAMES):
            yield Programs(folder, _read_version(folder / "pg_dump"))


def _read_version(program: Path) -> int:
    said = subprocess.run(  # noqa: S603 (a program of PostgreSQL)
        [program, "--version"], capture_output=True, encoding="utf-8", check=False
    )
    number = re.search(r"\(PostgreSQL\) (\d+)", said.stdout)
    return int(number[1]) if number else 0
