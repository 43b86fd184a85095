"""Makes a backup with pg_dump."""

import os
import secrets
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder

from config import key_rotation
from config.backups import Refused
from config.backups.manifest import FORMAT, Manifest, append, digest
from config.backups.programs import describe_connection, find_programs, read_major
from config.release import VERSION

NEEDED = "db.0002_delivery_stop"  # without its table, a restored copy would send deliveries
LOCKS_WITHIN = "30s"
ABANDONED = 86_400  # seconds without a new byte, after which a backup counts as abandoned


def make_backup(path: Path) -> Manifest:
    """Writes a backup of the whole database. Raises Refused.

    The file gets its name once it is complete and on the disk; it then replaces an existing one.
    Only its owner can read it.
    """
    programs = find_programs()
    with _beside(path) as partial, transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            cursor.execute("SELECT pg_export_snapshot()")
            (snapshot,) = cursor.fetchone()
        facts = _read_facts()
        conninfo, environment = describe_connection()
        command = [
            *(programs.get("pg_dump"), "--format=custom", "--no-owner", "--no-privileges"),
            *(f"--snapshot={snapshot}", f"--lock-wait-timeout={LOCKS_WITHIN}"),
            *(f"--file={partial}", f"--dbname={conninfo}"),
        ]
        run(command, environment)
        size = partial.stat().st_size
        with partial.open("rb") as file:
            manifest = Manifest(**facts, size=size, sha256=digest(file, size))
        append(partial, manifest)
    return manifest


def name_backup(now: datetime) -> str:
    """Returns a name for a backup in a folder; names are in the order of time."""
    return f"review-loop-{now:%Y-%m-%dT%H%M%S}.dump"


def remove_oldest(made: Path, keep: int) -> None:
    """Keeps the newest `keep` backups of a folder, with the one just made, and removes the others.

    The one just made stays even if the clock was ahead when the others were made. Files with other
    names stay. Partial files of killed backups are removed.
    """
    folder, name = made.parent, "review-loop-????-??-??T??????.dump"
    others = sorted(path for path in folder.glob(name) if path != made)
    for path in others[: max(0, len(others) + 1 - keep)]:
        path.unlink()
    for path in folder.glob(f".{name}.*.partial"):
        if time.time() - path.stat().st_mtime > ABANDONED:
            path.unlink()


def run(command: list[str], environment: dict[str, str]) -> None:
    """Runs a program to its end. Raises Refused with the program's error."""
    process = subprocess.Popen(  # noqa: S603 (a program of PostgreSQL)
        command, env=environment, stderr=subprocess.PIPE, encoding="utf-8", errors="replace"
    )
    try:
        _, said = process.communicate()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    if process.returncode != 0:
        raise Refused(describe_failure(Path(command[0]).name, said))


def describe_failure(program: str, said: str) -> str:
    """Returns the first error of a program, else its last line."""
    lines = [line.strip() for line in said.splitlines() if line.strip()] or ["it said nothing"]
    errors = [line for line in lines if "error" in line.lower()]
    return f"{program} failed: {(errors or lines[-1:])[0]}"


def _read_facts() -> dict[str, Any]:
    migrations = sorted(".".join(key) for key in MigrationRecorder(connection).applied_migrations())
    if NEEDED not in migrations:
        raise Refused(
            "The database has older tables than this version: run `manage.py migrate`, or make the"
            " backup with the version that it belongs to."
        )
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_schema(), to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI')"
        )
        schema, made_at = cursor.fetchone()
    return {
        "review_loop_backup": FORMAT,
        "made_at": made_at,
        "version": VERSION,
        "postgres": read_major(),
        "schema": schema,
        "keys": key_rotation.list_needed_keys(),
        "migrations": migrations,
    }


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """Opens a temporary file, which replaces `path` at the end of the block. Raises Refused."""
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    if path.exists() and not path.is_file():
        raise Refused(f"{path} is no file, and stays as it is.")
    try:
        os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            yield partial
            _sync(partial)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
        _sync(path.parent)
    except OSError as error:
        raise Refused(f"{path} cannot be written: {error.strerror}.") from None


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
