"""Runs the test suite for `make test` and `make check`.

Parts run side by side. The output of each is kept in a file and printed whole when it ends.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import IO

from tests.parts import ROOT, Lanes, Part, check, everything, selected
from tests.preparing import prepared_cluster

NO_TESTS = 5  # pytest's exit status where nothing was selected


class Run:
    """Runs several parts, each with these variables."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = environment
        self.began = time.monotonic()
        self.status: dict[str, int] = {}
        self._printing = threading.Lock()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._over = threading.Event()

    def lanes(self, lanes: Lanes) -> int:
        """Runs the lanes side by side and returns the exit status."""
        threads = [threading.Thread(target=self._lane, args=[lane]) for lane in lanes]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except KeyboardInterrupt:  # the parts got it from the terminal as well: they tidy up
            self._over.set()
            for thread in threads:
                thread.join()
            return 130
        return self._verdict()

    def end(self, *_: object) -> None:
        """Passes SIGTERM on."""
        self._over.set()
        for process in self._processes:
            if process.poll() is None:
                process.terminate()

    def _lane(self, parts: Sequence[Part]) -> None:
        for part in parts:
            if not self._over.is_set():
                self._part(part)

    def _part(self, part: Part) -> None:
        began = time.monotonic()
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                part.command,
                cwd=ROOT,
                env={**os.environ, **self.environment, **part.environment},
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            self._processes.append(process)
            status = process.wait()
            self.status[part.name] = status
            word = "passed" if status == 0 else f"ended with status {status}"
            seconds = time.monotonic() - began
            self._print(f"{part.name}: {word} after {seconds:.0f} s", output)

    def _print(self, headline: str, output: IO[bytes]) -> None:
        output.seek(0)
        with self._printing:
            print(f"\n##### {headline} ({time.monotonic() - self.began:.0f} s in all)", flush=True)
            sys.stdout.buffer.write(output.read())
            sys.stdout.flush()

    def _verdict(self) -> int:
        failed = [name for name, status in self.status.items() if status not in (0, NO_TESTS)]
        if failed:
            print(f"Failed: {', '.join(failed)}", file=sys.stderr)
            return 1
        return 0 if 0 in self.status.values() else NO_TESTS


def chosen(words: list[str]) -> Lanes:
    if not words:
        return everything()
    return check() if words == ["--check"] else selected(words)


def main(words: list[str]) -> int:
    # Without bytecode each worker would compile every test anew: half of what its start costs.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    lanes = chosen(words)
    parts = [part for lane in lanes for part in lane]
    if len(parts) == 1:  # nothing runs beside it, so its output may be seen at once
        os.environ.update(parts[0].environment)
        os.execvp(parts[0].command[0], parts[0].command)
    print(
        f"Started: {'; '.join(', then '.join(p.name for p in lane) for lane in lanes)}", flush=True
    )
    with ExitStack() as stack:
        needs_servers = any(part.needs_servers for part in parts)
        run = Run(stack.enter_context(prepared_cluster()) if needs_servers else {})
        signal.signal(signal.SIGTERM, run.end)
        return run.lanes(lanes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
