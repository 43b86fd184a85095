"""Checks the database and its content, for `manage.py doctor`."""

import time
from collections.abc import Iterator
from contextlib import closing

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from config import key_rotation
from config.backlog import count_waiting
from config.backups import Refused
from config.backups.programs import find_programs
from config.findings import OK, WARNING, WRONG, Check, Finding
from db import connections, deliveries, worker_status
from db.outages import read_first_line
from mailing import gauges as mailing
from web.health import pending_migrations

OLDEST_POSTGRES = 140_000  # server_version_num
MAX_SKEW = 2.0  # seconds


def check_connection() -> Iterator[Finding]:
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT current_setting('server_version'),"
                " pg_size_pretty(pg_database_size(current_database()))"
            )
            version, size = cursor.fetchone()
    except (DatabaseError, InterfaceError) as error:
        reason = f"PostgreSQL cannot be reached: {read_first_line(error)}"
        yield Finding(WRONG, reason, "Check DATABASE_URL.")
        return
    yield Finding(OK, f"PostgreSQL {version} answers; the database has {size}.")


def check_server() -> Iterator[Finding]:
    """Checks that the server is new enough and accepts writes."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('server_version'),"
            " current_setting('server_version_num')::int, pg_is_in_recovery()"
        )
        version, number, is_standby = cursor.fetchone()
    if number < OLDEST_POSTGRES:
        yield Finding(WRONG, f"PostgreSQL {version} is too old.", "Use version 14 or newer.")
    if is_standby:
        advice = "Let DATABASE_URL name the primary, or both with target_session_attrs=read-write."
        yield Finding(WRONG, "PostgreSQL is a standby and takes no writes.", advice)


def check_pooler() -> Iterator[Finding]:
    """Checks that the pooler sets time limits; it ignores those of its clients."""
    if settings.POOLED_DATABASE is None:
        return
    pooled = connections.wrap(settings.POOLED_DATABASE)
    try:
        with closing(pooled), pooled.cursor() as cursor:
            cursor.execute("SELECT current_setting('lock_timeout')")
            (limit,) = cursor.fetchone()
    except (DatabaseError, InterfaceError) as error:
        reason = f"The pooler cannot be reached: {read_first_line(error)}"
        yield Finding(WRONG, reason, "Check DATABASE_URL.")
        return
    if limit == "0":
        advice = "Add connect_query as in deploy/pgbouncer/pgbouncer.ini."
        yield Finding(WRONG, "Connections of the pooler wait for locks without a limit.", advice)
    else:
        yield Finding(OK, "The pooler answers, with limits of time.")


def check_replica() -> Iterator[Finding]:
    if settings.REPLICA_DATABASE is None:
        return
    replica = connections.wrap(settings.REPLICA_DATABASE, alias="replica")
    try:
        with closing(replica), replica.cursor() as cursor:
            cursor.execute(
                "SELECT pg_is_in_recovery(), coalesce(extract(epoch FROM"
                " clock_timestamp() - pg_last_xact_replay_timestamp()), 0)::float"
            )
            is_standby, age = cursor.fetchone()
    except (DatabaseError, InterfaceError) as error:
        advice = "Check DATABASE_REPLICA_URL; until then the primary serves every page."
        reason = f"The replica cannot be reached: {read_first_line(error)}"
        yield Finding(WARNING, reason, advice)
        return
    if is_standby:
        yield Finding(OK, f"The replica answers; its last transaction is {age:.0f} s old.")
    else:
        advice = "That is so while the only replica is away; else change DATABASE_REPLICA_URL."
        yield Finding(WARNING, "DATABASE_REPLICA_URL leads to a primary.", advice)


def check_migrations() -> Iterator[Finding]:
    if pending_migrations():
        yield Finding(WRONG, "The database lacks migrations.", "Run `manage.py migrate`.")
    else:
        yield Finding(OK, "All migrations have run.")


def check_clock() -> Iterator[Finding]:
    before = time.time()
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float")
        there = float(cursor.fetchone()[0])
    after = time.time()
    skew = max(before - there, there - after, 0.0)
    if skew > MAX_SKEW:
        advice = "Synchronize both clocks (NTP): links and signatures of webhooks depend on them."
        yield Finding(WRONG, f"The clock differs by {skew:.1f} s from PostgreSQL's.", advice)
    else:
        yield Finding(OK, "The clock agrees with PostgreSQL's.")


def check_connections() -> Iterator[Finding]:
    used, limit = sum(connections.count_by_state().values()), connections.read_limit()
    sentence = f"{used} of {limit} connections to PostgreSQL are in use."
    if used > 0.8 * limit:
        yield Finding(WARNING, sentence, "Raise max_connections, or put PgBouncer in between.")
    else:
        yield Finding(OK, sentence)


def check_programs() -> Iterator[Finding]:
    """Checks that a backup can be made."""
    try:
        found = find_programs()
    except Refused as reason:
        yield Finding(WARNING, "`manage.py backup` does not work.", str(reason))
    else:
        yield Finding(OK, f"pg_dump of PostgreSQL {found.major} is there for backups.")


def check_keys() -> Iterator[Finding]:
    unreadable, old = key_rotation.count_by_key()
    if unreadable:
        advice = "Add the key that is missing to ENCRYPTION_KEYS."
        yield Finding(WRONG, f"{unreadable} stored secrets cannot be decrypted.", advice)
    if old:
        advice = "Run `manage.py rotatekeys` before you remove an old key."
        yield Finding(WARNING, f"{old} stored secrets do not use the first key.", advice)
    if not unreadable and not old:
        yield Finding(OK, "All stored secrets use the first of ENCRYPTION_KEYS.")


def check_background_work() -> Iterator[Finding]:
    late = worker_status.find_late(worker_status.read_lags())
    if late:
        advice = (
            "Start a worker and beat; `python -m config.alive worker` checks those of a machine."
        )
        yield Finding(WRONG, f"Background work is late: {', '.join(late)}.", advice)
    else:
        yield Finding(OK, "Worker and beat are at work.")
    waiting = mailing.read_oldest()
    if waiting > 600:
        advice = "Check EMAIL_URL; the worker's log has the reason as mail.not_sent."
        yield Finding(WARNING, f"An email has waited for {waiting / 60:.0f} minutes.", advice)


def check_deliveries() -> Iterator[Finding]:
    """Lists what waits while deliveries are off."""
    if settings.DELIVERIES_ARE_ON and not deliveries.read_stop():
        return
    phrase, hosts = count_waiting()
    if stop := deliveries.read_stop():
        advice = "Look at the lists of deliveries in the dashboard, then `manage.py deliveries on`."
        yield Finding(WARNING, f"Deliveries are off ({stop.reason}); {phrase} wait.", advice)
    if not settings.DELIVERIES_ARE_ON:
        advice = "Look at the lists of deliveries, then set DELIVERIES=on and restart."
        yield Finding(WARNING, f"DELIVERIES is off; {phrase} wait.", advice)
    for line in hosts:
        yield Finding(OK, line)


ON_SERVER: tuple[Check, ...] = (
    check_server,
    check_pooler,
    check_replica,
    check_clock,
    check_connections,
    check_programs,
)
IN_TABLES: tuple[Check, ...] = (check_keys, check_background_work, check_deliveries)
