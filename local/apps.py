"""The commands that start the web server, the worker and beat."""

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


def list_apps(port: int, data: Path, environment: Mapping[str, str]) -> list[App]:
    """Lists the processes in the order in which they start."""
    # Hides the warning that production must not run as root: this is not production.
    quiet_root = ("-W", "ignore:::celery.platforms")
    celery = (sys.executable, *quiet_root, "-m", "celery", "-q", "-A", "config")
    pool = ("--pool", "threads", "--concurrency", "8", "--without-gossip", "--without-mingle")
    schedule = ("--pidfile=", "--schedule", str(data / "beat-schedule"))
    return [
        App("web", build_web_command(port, environment)),
        App("worker", (*celery, "worker", *pool, "-Q", QUEUES)),
        App("beat", (*celery, "beat", *schedule)),
    ]


def build_web_command(port: int, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Builds the web server's command. docs/performance.md has measurements for the defaults."""
    workers = environment.get("WEB_WORKERS") or str(min(count_cores(), MAX_WORKERS))
    threads = environment.get("WEB_THREADS") or "8"
    address = ("--host", "127.0.0.1", "--port", str(port))
    return (sys.executable, "-m", "front", *address, "--workers", workers, "--threads", threads)


def count_cores() -> int:
    """Counts the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
