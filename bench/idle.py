"""Measures an idle service: `make run` unchanged, for a while."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from bench.outcome import Goal, Part, table
from bench.serving import children, free_port
from local.apps import ROOT
from local.environment import fetch_readiness
from local.processes import stop

WARM_UP, SECONDS = 20.0, 30.0
COMMITS, CORES = 5, 2  # a second at most; percent of a core at most
STOPPING = ((signal.SIGINT, 20.0),)
# The variables of the service: a separate `make run` takes no settings of the bench.
SHARED = ("DATABASE_URL", "REDIS_URL", "SITE_URL", "ALLOWED_HOSTS", "PROCESS_KIND")
_TICKS = os.sysconf("SC_CLK_TCK")
_COMMITS = "SELECT sum(xact_commit)::bigint FROM pg_stat_database"
# Kinds of processes by words of their command; the first match counts.
KINDS = {
    "PostgreSQL": ("postgres",),
    "Redis": ("redis-server", "valkey-server"),
    "worker": (" worker ",),
    "beat": (" beat ",),
    "web": (" front ",),
}
SUPERVISOR = "supervisor"


def measure(folder: Path) -> Part:
    """Starts the whole service below `folder`, and measures it while idle."""
    with running(folder) as process, psycopg.connect(find_database(folder)) as database:
        database.autocommit = True
        time.sleep(WARM_UP)  # PostgreSQL still analyses the new tables
        before, commits, began = cpu_of_all(process.pid), count_commits(database), time.monotonic()
        time.sleep(SECONDS)
        after, seconds = cpu_of_all(process.pid), time.monotonic() - began
        rate = (count_commits(database) - commits) / seconds
    shares = {kind: (after[kind] - before[kind]) / seconds * 100 for kind in after}
    total = sum(shares.values())
    rows = [[kind, f"{share:.2f} %"] for kind, share in shares.items()]
    rows += [["**all**", f"**{total:.2f} %**"]]
    return Part(
        {"idle": table(["processes", "of a core"], rows), "idle commits": f"{rate:.1f}"},
        [
            Goal("idle: commits per second", COMMITS, None, rate, at_most=True),
            Goal("idle: CPU of the whole service", CORES, None, total, " % of a core", True),
        ],
    )


@contextmanager
def running(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Runs the service like `make run`, with servers of its own."""
    port = free_port()
    kept = {name: value for name, value in os.environ.items() if name not in SHARED}
    with (folder / "idle.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "local", "run"],
            cwd=ROOT,
            env={**kept, "PORT": str(port), "DATA_DIR": str(folder / "idle")},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            while not fetch_readiness(port).startswith("200"):
                if process.poll() is not None:
                    raise RuntimeError((folder / "idle.log").read_text(encoding="utf-8"))
                time.sleep(0.2)
            yield process
        finally:
            stop(process, STOPPING)


def find_database(folder: Path) -> str:
    """Reads the database address that the run writes for `manage.py`."""
    lines = (folder / "idle" / "env").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines)["DATABASE_URL"]


def count_commits(database: psycopg.Connection) -> int:
    """Counts the commits of all databases, without those of this query."""
    (found,) = database.execute(_COMMITS).fetchone() or (0,)
    return int(found)


def cpu_of_all(supervisor: int) -> dict[str, float]:
    """Returns the seconds of CPU by kind of process, with those of children that have ended."""
    found = dict.fromkeys((*KINDS, SUPERVISOR), 0.0)
    for pid in list_tree(supervisor):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2]
            command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:  # ended just now
            continue
        found[name_kind(command)] += sum(map(int, fields.split()[11:15])) / _TICKS
    return found


def list_tree(pid: int) -> list[int]:
    """Lists a process and its descendants."""
    try:
        below = children(pid)
    except OSError:
        below = []
    return [pid, *(each for child in below for each in list_tree(child))]


def name_kind(command: str) -> str:
    """Returns the kind of a process."""
    for kind, words in KINDS.items():
        if any(word in command for word in words):
            return kind
    return SUPERVISOR
