"""The applications: their commands, and the one-off commands before them."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MANAGE = (sys.executable, str(ROOT / "manage.py"))
MAX_WORKERS = 4  # by default: each takes 120 MB and, with 8 threads, 8 connections
QUEUES = "deadlines,webhooks,notifications,celery"


@dataclass(frozen=True)
class App:
    """A process of the service: web, worker or beat."""

    name: str
    command: tuple[str, ...]


def apps(port: int, data: Path, environment: Mapping[str, str]) -> list[App]:
    """What runs, in the order of starting."""
    # celery.platforms warns at every start that root is not for production; this is not.
    quiet_root = ("-W", "ignore:::celery.platforms")
    celery = (sys.executable, *quiet_root, "-m", "celery", "-q", "-A", "config")
    pool = ("--pool", "threads", "--concurrency", "8", "--without-gossip", "--without-mingle")
    schedule = ("--pidfile=", "--schedule", str(data / "beat-schedule"))
    level = ("--loglevel", "WARNING")
    return [
        App("web", web_command(port, environment)),
        App("worker", (*celery, "worker", *pool, "-Q", QUEUES, *level)),
        App("beat", (*celery, "beat", *schedule, *level)),
    ]


def web_command(port: int, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The web server. docs/performance.md has the figures behind its defaults."""
    workers = environment.get("WEB_WORKERS") or str(min(cores(), MAX_WORKERS))
    threads = environment.get("WEB_THREADS") or "8"
    web = (sys.executable, "-m", "local.web", "--interface", "wsgi", "--http", "1", "--no-ws")
    address = ("--host", "127.0.0.1", "--port", str(port))
    size = ("--workers", workers, "--blocking-threads", threads, "--respawn-failed-workers")
    return (*web, *address, *size, "--log-level", "error", "config.wsgi:application")


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
