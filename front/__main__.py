"""`python -m front`: the web server (docs/operations.md).

The application is loaded before the workers are forked: it is read once, and they share its memory.
"""

import argparse
import asyncio
import atexit
import gc
import importlib
import os
import resource
import shutil
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable
from wsgiref.types import WSGIApplication

from front.supervisor import Supervisor, listen

_SPARE = 256  # file descriptors for the database, files and the rest


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
    parser.add_argument("--application", default="config.wsgi:application")
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


def main() -> int:
    options = read_options()
    share_metrics()
    try:
        application = load_application(options.application)
    except Exception as error:
        traceback.print_exc()
        print(f"No web worker was started: {error or type(error).__name__}", file=sys.stderr)
        return 1
    try:
        sockets = listen(options.host, options.port, options.workers)
    except OSError as error:
        print(f"Cannot listen on {options.host}:{options.port}: {error}", file=sys.stderr)
        return 1

    def work(listener: socket.socket, ready: Callable[[], None]) -> None:
        run_worker(application, options, listener, ready)

    return Supervisor(sockets, work).run()


def share_metrics() -> None:
    """Makes a folder in which the workers share their numbers (web.metrics), where they count."""
    is_on = os.environ.get("METRICS_TOKEN") or os.environ.get("METRICS_NETWORKS")
    if is_on and not os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        folder, parent = tempfile.mkdtemp(prefix="reviewloop-metrics-"), os.getpid()
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder

        def remove() -> None:
            if os.getpid() == parent:  # workers end, too
                shutil.rmtree(folder, ignore_errors=True)

        atexit.register(remove)


def load_application(path: str) -> WSGIApplication:
    """Imports the WSGI application that `module:name` names."""
    module, _, name = path.partition(":")
    application: WSGIApplication = getattr(importlib.import_module(module), name)
    gc.collect()
    gc.freeze()  # the collector would write into pages that workers share
    return application


def run_worker(
    application: WSGIApplication,
    options: argparse.Namespace,
    listener: socket.socket,
    ready: Callable[[], None],
) -> None:
    """Serves the application until SIGTERM."""
    import uvloop

    from front.limits import Limits
    from front.server import Server

    connections = min(Limits.connections, allow_files() - _SPARE)
    limits = Limits(connections=connections, waiting=options.waiting, streams=options.streams)

    async def serve() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        site = os.environ.get("SITE_URL", "http://localhost")
        server = Server(application, site=site, threads=options.threads, limits=limits)
        await server.serve(listener, ready, stop)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve())


def allow_files() -> int:
    """Raises the number of open files to what the system allows, and returns it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 8192 if hard == resource.RLIM_INFINITY else min(hard, 8192)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return soft


if __name__ == "__main__":
    sys.exit(main())
