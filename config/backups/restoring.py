"""Restores a whole backup in one transaction, which also stops deliveries."""

import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfileobj
from typing import IO

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.loader import MigrationLoader
from psycopg import sql

from accounts.vault import get_fingerprint
from config.backups import Refused, manifest
from config.backups.making import describe_failure
from config.backups.manifest import Manifest
from config.backups.programs import Programs, describe_connection, find_programs, read_major
from config.release import VERSION
from db import deliveries

_COUNT_TABLES = """
SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
   AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_t%'
   AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
"""
# Extensions stay: they may belong to somebody else.
_CLEAR = """
DO $clear$ DECLARE what record; BEGIN
    FOR what IN SELECT CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW'
                       WHEN 'S' THEN 'SEQUENCE' WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE'
                       END AS kind, format('%I.%I', {schema}, c.relname) AS name
                  FROM pg_class c WHERE c.relnamespace = {schema}::regnamespace
                   AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
                   AND NOT EXISTS (SELECT FROM pg_depend d
                                    WHERE d.objid = c.oid AND d.deptype IN ('e', 'a', 'i'))
    LOOP EXECUTE format('DROP %s IF EXISTS %s CASCADE', what.kind, what.name); END LOOP;
    FOR what IN SELECT p.oid::regprocedure::text AS name
                  FROM pg_proc p WHERE p.pronamespace = {schema}::regnamespace
                   AND NOT EXISTS (SELECT FROM pg_depend d
                                    WHERE d.objid = p.oid AND d.deptype = 'e')
    LOOP EXECUTE format('DROP ROUTINE IF EXISTS %s CASCADE', what.name); END LOOP;
END $clear$;
"""
# Positions of event streams contain transaction numbers, which are invalid on another server.
_QUIET = """
INSERT INTO {schema}.db_deliverystop (id, reason) VALUES (1, {reason})
    ON CONFLICT ON CONSTRAINT db_deliverystop_pkey DO UPDATE
   SET reason = excluded.reason, begun_at = statement_timestamp();
DELETE FROM {schema}.webhooks_loggedevent
 WHERE NOT pg_visible_in_snapshot(transaction_id, pg_current_snapshot());
"""
_RESTORING = "a backup is being restored"
# If psql is ended, the server ends the running statement and releases its locks.
_WATCH_CLIENT = "SET LOCAL client_connection_check_interval = '1s';\n"
UNKNOWN_BEFORE_17 = b"SET transaction_timeout = 0;\n"
PREAMBLE = 40  # lines of a script among which that one is


@dataclass(frozen=True)
class Restored:
    """The restored backup, and the migrations of this version that it lacks."""

    manifest: Manifest
    missing: list[str]


def restore_backup(path: Path, *, replace: bool) -> Restored:
    """Restores a backup into an empty database, or replaces the content. Raises Refused.

    Deliveries are off afterwards. If it fails, the database is as before.
    """
    content = manifest.read(path)
    check_keys(content)
    missing = check_migrations(content)
    if content.postgres > (server := read_major()):
        raise Refused(
            f"The backup is of PostgreSQL {content.postgres}, and this is {server}: use version"
            f" {content.postgres} or newer."
        )
    programs = find_programs(at_least=content.postgres)
    if (tables := count_tables()) and not replace:
        raise Refused(
            f"The database is not empty, it has {tables} tables and views. With --replace, they are"
            " deleted and the backup takes their place."
        )
    begin = sql.SQL(_CLEAR if tables else "").format(schema=sql.Literal(content.schema))
    end = sql.SQL(_QUIET).format(
        schema=sql.Identifier(content.schema),
        reason=sql.Literal(f"restored from {path.name[:100]}, made {content.made_at}"),
    )
    with quiet_meanwhile():
        pipe(path, programs, [begin.as_string(), end.as_string()])
    deliveries.forget()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM (ANALYZE)")  # lists need the visibility map
    return Restored(content, missing)


def check_keys(content: Manifest) -> None:
    """Raises Refused if a key that the backup needs is not among ENCRYPTION_KEYS."""
    known = {get_fingerprint(key) for key in settings.ENCRYPTION_KEYS}
    if lost := [fingerprint for fingerprint in content.keys if fingerprint not in known]:
        raise Refused(
            f"The backup needs the encryption key with the fingerprint {', '.join(lost)}, and"
            f" ENCRYPTION_KEYS has {', '.join(sorted(known))}. Add the key: without it the stored"
            " secrets are lost."
        )


def check_migrations(content: Manifest) -> list[str]:
    """Returns the migrations that the backup lacks. Raises Refused if this version lacks any."""
    known = {".".join(key) for key in MigrationLoader(None).disk_migrations}
    if unknown := sorted({*content.migrations} - known):
        raise Refused(
            f"The backup was made by version {content.version}, and this is {VERSION}, which does"
            f" not know {', '.join(unknown[:3])}: restore it with that version or a newer one."
        )
    return sorted(known - {*content.migrations})


def count_tables() -> int:
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_TABLES)
        return int(cursor.fetchone()[0])


@contextmanager
def quiet_meanwhile() -> Iterator[None]:
    """Stops the deliveries of running processes, and waits until all of them have read the stop.

    The restored content has a stop of its own. After a failure deliveries resume, if they were on.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('db_deliverystop')")
        is_possible = cursor.fetchone()[0] is not None
    if not is_possible or deliveries.read_stop():
        yield
        return
    deliveries.stop(reason=_RESTORING)
    time.sleep(2 * deliveries.FRESH)
    try:
        yield
    except BaseException:
        with suppress(DatabaseError, InterfaceError):  # the original error is more useful
            deliveries.resume(reason=_RESTORING)  # not the stop that has come with the backup
        raise


def pipe(path: Path, programs: Programs, around: list[str]) -> None:
    """Runs the backup with psql between two scripts, in one transaction. Raises Refused.

    The last script commits. With --single-transaction, psql would commit at the end of its input,
    and thus a part of the backup if this process was killed.
    """
    begin, end = around
    conninfo, environment = describe_connection()
    command = [programs.get("psql"), "--no-psqlrc", "--quiet", "--output=/dev/null"]
    command += ["--set=ON_ERROR_STOP=1", "--file=-", f"--dbname={conninfo}"]
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as complaints:
        reader = subprocess.Popen(  # noqa: S603 (programs of PostgreSQL)
            [programs.get("pg_restore"), "--no-owner", "--no-privileges", "--file=-", str(path)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=complaints,
        )
        writer = subprocess.Popen(  # noqa: S603
            command, env=environment, stdin=subprocess.PIPE, stderr=said
        )
        assert reader.stdout is not None
        assert writer.stdin is not None
        with _ended(reader, writer):
            with suppress(BrokenPipeError):  # psql has ended and printed the reason
                writer.stdin.write(f"BEGIN;\n{_WATCH_CLIENT}{begin}".encode())
                writer.stdin.writelines(_read_preamble(reader.stdout, read_major()))
                copyfileobj(reader.stdout, writer.stdin)
                if reader.wait() != 0:
                    raise Refused(describe_failure("pg_restore", _read(complaints)))
                writer.stdin.write(f"{end}\nCOMMIT;\n".encode())
                writer.stdin.close()
            if writer.wait() != 0:
                raise Refused(describe_failure("psql", _read(said)))


def _read_preamble(script: Iterable[bytes], server: int) -> Iterator[bytes]:
    """Reads the first lines of the script, without settings that an older server lacks."""
    for number, line in enumerate(script, 1):
        if server >= 17 or line != UNKNOWN_BEFORE_17:
            yield line
        if number == PREAMBLE:
            return


@contextmanager
def _ended(*processes: "subprocess.Popen[bytes]") -> Iterator[None]:
    """Ends the processes after the block."""
    try:
        yield
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream:
                    with suppress(BrokenPipeError):
                        stream.close()


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")
