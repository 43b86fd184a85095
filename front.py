"""`python -m front`: the web server (docs/operations.md).

Its command line, its processes and its configuration. uvicorn keeps the connections and the
processes; what they run is in web/server/.
"""

import argparse
import atexit
import gc
import importlib
import logging
import multiprocessing
import os
import resource
import shutil
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from local.processes import die_with_parent
from web.server.limits import Limits

if TYPE_CHECKING:
    from web.server.application import Application

GRACE = 25  # seconds for a worker to finish what is under way
_FILES = 8192
_SPARE = 256  # file descriptors for the database, files and the rest


@dataclass(frozen=True)
class Start:
    """Makes the application of a worker process, which uvicorn starts anew (spawn)."""

    application: str
    threads: int
    limits: Limits = field(default_factory=Limits)

    def __call__(self) -> "Application":
        die_with_parent()
        parent = multiprocessing.parent_process()
        if parent is not None and parent.pid != os.getppid():  # it died before the call above
            os._exit(1)
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # not what clients do wrong
        try:
            module, _, name = self.application.partition(":")
            handler = getattr(importlib.import_module(module), name)
        except Exception as error:
            traceback.print_exc()
            print(f"No web worker was started: {error or type(error).__name__}", file=sys.stderr)
            sys.exit(STARTUP_FAILURE)
        from web.server.application import Application  # the supervisor does without Django

        gc.collect()
        gc.freeze()  # what was loaded stays
        connections = min(self.limits.connections, allow_files() - _SPARE)
        limits = replace(self.limits, connections=connections)
        site = os.environ.get("SITE_URL", "http://localhost")
        return Application(handler, site, self.threads, limits)


def allow_files() -> int:
    """Raises the number of open files to what the system allows, and returns it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(hard, _FILES)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return soft


def configure(app: Any, **more: Any) -> uvicorn.Config:
    """Builds the configuration of uvicorn."""
    return uvicorn.Config(
        app,
        http="web.server.protocol:Protocol",
        loop="uvloop",
        ws="none",
        interface="asgi3",
        lifespan="on",
        log_config=None,
        access_log=False,  # ACCESS_LOG is Django's (web/observing.py)
        proxy_headers=False,  # TRUSTED_PROXIES is Django's (web/middleware.py)
        server_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=GRACE,
        timeout_worker_healthcheck=10,
        **more,
    )


def read_options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="python -m front", description="The web server.")
    parser.add_argument("--host", default="127.0.0.1")
    counts: list[tuple[str, int, range, str]] = [
        ("port", 8000, range(1, 65_536), "1 to 65535"),
        ("workers", 1, range(1, 257), "processes"),
        ("threads", 8, range(1, 1_001), "threads of each process"),
        ("waiting", 3000, range(1_000_001), "calls with ?wait that a process holds"),
        ("streams", 1000, range(1_000_001), "streams of events that a process holds"),
    ]
    for name, default, allowed, text in counts:
        parser.add_argument(f"--{name}", type=number_in(allowed), default=default, help=text)
    parser.add_argument("--application", default="config.asgi:application")
    return parser.parse_args()


def number_in(allowed: range) -> Callable[[str], int]:
    """Reads an argument that is one of these numbers."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdecimal() and int(text) in allowed):
            raise argparse.ArgumentTypeError(
                f"{text!r} is no number from {allowed[0]} to {allowed[-1]}"
            )
        return int(text)

    return read


def share_metrics() -> None:
    """Makes a folder in which the workers share their numbers (web.metrics), where they count."""
    is_on = os.environ.get("METRICS_TOKEN") or os.environ.get("METRICS_NETWORKS")
    if is_on and not os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        folder = tempfile.mkdtemp(prefix="reviewloop-metrics-")
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        atexit.register(shutil.rmtree, folder, ignore_errors=True)


@dataclass(frozen=True)
class OwnSocket:
    """What a worker gets in place of a socket: unpickled there, it is one.

    Linux shares the connections to a port among the sockets that listen. One socket for all was
    simpler, but of 16 connections that came at once, one of two workers sometimes took all, and
    kept them. uvicorn listens once the application is loaded: until then no connection waits for a
    worker that cannot answer, such as one that takes the place of another.
    """

    host: str
    port: int

    def __reduce__(self) -> tuple[Callable[..., socket.socket], tuple[str, int]]:
        return bind, (self.host, self.port)


def bind(host: str, port: int) -> socket.socket:
    """Opens a socket that shares its port and does not listen yet."""
    own = socket.socket(find_family(host))
    own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    if own.family == socket.AF_INET6:
        own.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    own.bind((host, port))
    return own


def find_family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def listen(host: str, port: int, workers: int) -> Any:
    """Returns what the workers get as their socket: systemd's, if it holds one open."""
    if os.environ.get("LISTEN_PID") == str(os.getpid()):
        return socket.socket(fileno=3)
    # fails where another service has the port
    common = socket.create_server((host, port), family=find_family(host), backlog=2048)
    if workers == 1 or sys.platform != "linux":
        return common
    common.close()
    return OwnSocket(host, port)


def main() -> int:
    """Runs the workers until SIGTERM or SIGINT; returns the exit status."""
    options = read_options()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    # Nothing may come behind the reason why a worker cannot start.
    logging.getLogger("uvicorn.error").addFilter(lambda record: "died" in record.getMessage())
    share_metrics()
    try:
        listener = listen(options.host, options.port, options.workers)
    except OSError as error:
        print(f"Cannot listen on {options.host}:{options.port}: {error}", file=sys.stderr)
        return 1
    limits = Limits(waiting=options.waiting, streams=options.streams)
    start = Start(options.application, options.threads, limits)
    supervisor = Multiprocess(configure(start, factory=True, workers=options.workers), [listener])
    supervisor.run()
    return int(any(each.exitcode == STARTUP_FAILURE for each in supervisor.processes))


if __name__ == "__main__":
    from front import main as run  # what workers are given must not be of the module __main__

    sys.exit(run())
