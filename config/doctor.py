"""Checks everything that the service needs, for `manage.py doctor`: problems and their remedies."""

import platform
import shutil
import smtplib
import socket
from collections.abc import Generator, Iterator
from pathlib import Path

import django
from celery import Celery
from celery.exceptions import OperationalError
from django.conf import settings
from django.core import checks
from django.core.cache import caches
from django.core.mail import get_connection
from django.db import DatabaseError, InterfaceError
from redis import Redis
from redis.exceptions import RedisError

from accounts.sign_in_codes import can_send
from config import database_checks as database
from config.findings import OK, WARNING, WRONG, Check, Finding
from config.release import VERSION
from db.outages import read_first_line
from webhooks import outbound

LITTLE_DISK = 1_000_000_000  # bytes
PUSH_SERVICES = ("fcm.googleapis.com", "updates.push.services.mozilla.com", "web.push.apple.com")


def examine() -> Iterator[Finding]:
    """Runs all checks, except those that depend on a failed one (the database, its tables)."""
    yield from run(check_versions, check_settings)
    if (yield from run(database.check_connection)):
        yield from run(*database.ON_SERVER)
        if (yield from run(database.check_migrations)):
            yield from run(*database.IN_TABLES)
    yield from run(*ELSEWHERE)


def run(*those: Check) -> Generator[Finding, None, bool]:
    """Yields the findings of the checks; returns whether all passed."""
    is_well = True
    for check in those:
        try:
            for finding in check():
                is_well &= finding.level != WRONG
                yield finding
        except (DatabaseError, InterfaceError) as error:
            is_well = False
            advice = "Look at its log, and try again."
            yield Finding(WRONG, f"PostgreSQL failed: {read_first_line(error)}", advice)
        except Exception as error:
            is_well = False
            failure = f"{check.__name__}: {type(error).__name__}: {error}"
            yield Finding(WRONG, f"A check failed: {failure}", "Check the setting it is about.")
    return is_well


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
    except (OSError, smtplib.SMTPException, UnicodeError) as error:
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


def check_authorities() -> Iterator[Finding]:
    """Checks the operator's certificate authorities for webhook receivers."""
    if not settings.WEBHOOK_CA_FILE:
        return
    try:
        outbound.tls_context(settings.WEBHOOK_CA_FILE)
    except OSError as error:
        reason = f"WEBHOOK_CA_FILE cannot be used here: {error.strerror or error}."
        advice = "Every webhook fails in a worker for which that is so, too."
        yield Finding(WARNING, reason, advice)
    else:
        yield Finding(OK, "WEBHOOK_CA_FILE has authorities.")


def check_disk() -> Iterator[Finding]:
    folder = settings.DATA_DIR if Path(settings.DATA_DIR).exists() else settings.BASE_DIR
    free = shutil.disk_usage(folder).free
    sentence = f"{free / 1e9:.1f} GB are free on the disk of {folder}."
    if free < LITTLE_DISK:
        yield Finding(WARNING, sentence, "Make room: a full disk stops writes.")
    else:
        yield Finding(OK, sentence)


ELSEWHERE: tuple[Check, ...] = (
    check_redis,
    check_mail,
    check_push,
    check_authorities,
    check_disk,
)
