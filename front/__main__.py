"""`python -m front`: the web server (docs/operations.md)."""

import argparse
import asyncio
import importlib
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable

from front.supervisor import Supervisor, listen

_SPARE = 256  # file descriptors for the database, files and the rest


def read_options() -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="python -m front", description="The web server.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--threads", type=int, default=8, help="threads of each process")
    parser.add_argument("--application", default="config.wsgi:application")
    return parser.parse_args()


def main() -> int:
    options = read_options()
    try:
        sockets = listen(options.host, options.port, options.workers)
    except OSError as error:
        print(f"Cannot listen on {options.host}:{options.port}: {error}", file=sys.stderr)
        return 1

    def work(listener: socket.socket, ready: Callable[[], None]) -> None:
        run_worker(options, listener, ready)

    return Supervisor(sockets, work).run()


def run_worker(
    options: argparse.Namespace, listener: socket.socket, ready: Callable[[], None]
) -> None:
    """Serves the application until SIGTERM."""
    import uvloop

    from front.limits import Limits
    from front.server import Server

    module, _, name = options.application.partition(":")
    application = getattr(importlib.import_module(module), name)
    limits = Limits(connections=min(Limits.connections, allow_files() - _SPARE))

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
