"""Looks at everything that the service needs, for `manage.py doctor`: what is wrong, what to do."""

import platform
import shutil
import smtplib
import socket
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import django
from celery import Celery
from celery.exceptions import OperationalError
from django.conf import settings
from django.core import checks
from django.core.cache import caches
from django.core.mail import get_connection
from django.db import DatabaseError, InterfaceError, connection
from redis import Redis
from redis.exceptions import RedisError

from accounts import key_rotation
from accounts.sign_in_codes import can_send
from config.backups import Refused
from config.backups.programs import find_programs
from config.findings import OK, WARNING, WRONG, Check, Finding
from config.release import VERSION
from config.waiting import count_waiting
from db import connections, deliveries, worker_status
from mailing import gauges as mailing
from web.health import pending_migrations

OLDEST_POSTGRES = 140_000  # server_version_num
MAX_SKEW = 2.0  # seconds
LITTLE_DISK = 1_000_000_000  # bytes
PUSH_SERVICES = ("fcm.googleapis.com", "updates.push.services.mozilla.com", "web.push.apple.com")


def examine() -> Iterator[Finding]:
    """Runs all checks. Those that need the database are left out where it does not answer."""
    yield from check_versions()
    yield from check_settings()
    reachable = [*check_database()]
    yield from reachable
    if reachable[0].level != WRONG:
        for check in IN_DATABASE:
            yield from check()
    for check in ELSEWHERE:
        yield from check()


def check_versions() -> Iterator[Finding]:
    python = platform.python_version()
    yield Finding(OK, f"Review Loop {VERSION}, Python {python}, Django {django.__version__}.")


def check_settings() -> Iterator[Finding]:
    for message in checks.run_checks(include_deployment_checks=True):
        if not message.is_silenced():
            yield Finding(WARNING, f"{message.id}: {message.msg}", str(message.hint or ""))
    if settings.DEBUG:
        yield Finding(WRONG, "DEBUG is on: error pages show secrets.", "Set DEBUG=false.")
    if not can_send():
        advice = "Set EMAIL_URL; until then nobody gets a code or a link by email."
        yield Finding(WARNING, "No email is sent.", advice)
    if not settings.VAPID_PRIVATE_KEY:
        advice = "Set VAPID_PRIVATE_KEY; `manage.py vapidkey` prints one."
        yield Finding(WARNING, "Web Push is off.", advice)
    if not (Path(settings.STATIC_ROOT) / "staticfiles.json").exists():
        advice = "Run `manage.py collectstatic` (docs/operations.md, Processes)."
        yield Finding(WARNING, "Static files are served uncompressed.", advice)


def check_database() -> Iterator[Finding]:
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT current_setting('server_version'),"
                " current_setting('server_version_num')::int, pg_is_in_recovery(),"
                " pg_size_pretty(pg_database_size(current_database()))"
            )
            version, number, is_standby, size = cursor.fetchone()
    except (DatabaseError, InterfaceError) as error:
        reason = str(error).strip().splitlines()[0]
        yield Finding(WRONG, f"PostgreSQL cannot be reached: {reason}", "Check DATABASE_URL.")
        return
    yield Finding(OK, f"PostgreSQL {version} answers; the database has {size}.")
    if number < OLDEST_POSTGRES:
        yield Finding(WRONG, f"PostgreSQL {version} is too old.", "Use version 14 or newer.")
    if is_standby:
        advice = "Let DATABASE_URL name the primary, or both with target_session_attrs=read-write."
        yield Finding(WRONG, "PostgreSQL is a standby and takes no writes.", advice)


def check_pooler() -> Iterator[Finding]:
    """Checks that the pooler sets limits of time; it takes none from its clients."""
    if settings.POOLED_DATABASE is None:
        return
    pooled = connections.wrap(settings.POOLED_DATABASE)
    try:
        with closing(pooled), pooled.cursor() as cursor:
            cursor.execute("SELECT current_setting('lock_timeout')")
            (limit,) = cursor.fetchone()
    except (DatabaseError, InterfaceError) as error:
        reason = str(error).strip().splitlines()[0]
        yield Finding(WRONG, f"The pooler cannot be reached: {reason}", "Check DATABASE_URL.")
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
        reason = str(error).strip().splitlines()[0]
        advice = "Check DATABASE_REPLICA_URL; until then the primary serves every page."
        yield Finding(WARNING, f"The replica cannot be reached: {reason}", advice)
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


def check_programs() -> Iterator[Finding]:
    """Checks that a backup can be made."""
    try:
        found = find_programs()
    except Refused as reason:
        yield Finding(WARNING, "`manage.py backup` does not work.", str(reason))
    else:
        yield Finding(OK, f"pg_dump of PostgreSQL {found.major} is there for backups.")


def check_redis() -> Iterator[Finding]:
    client: Redis = caches["default"]._cache.get_client()  # type: ignore[attr-defined]
    try:
        client.ping()
        with Celery(broker=settings.CELERY_BROKER_URL).connection_for_write(
            ssl=settings.CELERY_BROKER_USE_SSL,
            transport_options=settings.CELERY_BROKER_TRANSPORT_OPTIONS,
        ) as broker:
            broker.ensure_connection(max_retries=1, timeout=5)
    except (RedisError, OSError, OperationalError) as error:
        advice = "Check REDIS_URL. The cache uses the database after the broker's."
        yield Finding(WRONG, f"Redis cannot be reached: {error}", advice)
    else:
        yield Finding(OK, "Redis answers, for the broker and for the cache.")


def check_mail() -> Iterator[Finding]:
    if not settings.MAIL_SERVER_BACKEND.endswith("smtp.EmailBackend"):
        return
    server = get_connection(settings.MAIL_SERVER_BACKEND)
    try:
        server.open()
        server.close()
    except (OSError, smtplib.SMTPException) as error:
        yield Finding(WRONG, f"The mail server cannot be used: {error}", "Check EMAIL_URL.")
    else:
        yield Finding(OK, "The mail server answers and takes the password.")


def check_push() -> Iterator[Finding]:
    if not settings.VAPID_PRIVATE_KEY:
        return
    missing = [host for host in PUSH_SERVICES if not is_reachable(host)]
    if missing:
        advice = "Allow connections to port 443 of push services."
        yield Finding(WARNING, f"Push services cannot be reached: {', '.join(missing)}.", advice)
    else:
        yield Finding(OK, "Push services can be reached.")


def is_reachable(host: str) -> bool:
    try:
        socket.create_connection((host, 443), timeout=5).close()
    except OSError:
        return False
    return True


def check_disk() -> Iterator[Finding]:
    folder = settings.DATA_DIR if Path(settings.DATA_DIR).exists() else settings.BASE_DIR
    free = shutil.disk_usage(folder).free
    sentence = f"{free / 1e9:.1f} GB are free on the disk of {folder}."
    if free < LITTLE_DISK:
        yield Finding(WARNING, sentence, "Make room: a full disk stops writes.")
    else:
        yield Finding(OK, sentence)


IN_DATABASE: tuple[Check, ...] = (
    check_pooler,
    check_replica,
    check_migrations,
    check_clock,
    check_connections,
    check_keys,
    check_background_work,
    check_deliveries,
    check_programs,
)
ELSEWHERE: tuple[Check, ...] = (check_redis, check_mail, check_push, check_disk)
