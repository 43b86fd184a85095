"""`python -m local.install FILE ...` installs requirements and reports the progress.

pip prints nothing or several lines for each package, and irrelevant warnings. Its output is
therefore shown only if it fails.
"""

import os
import queue
import re
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from local.disk import describe_scarcity

ROOT = Path(__file__).resolve().parent.parent
SAYS_EVERY = 4.0  # seconds
SHOWN = 15  # last lines of pip, if it fails
PIP = (
    *(sys.executable, "-u", "-m", "pip", "install", "--no-input", "--no-color"),
    *("--disable-pip-version-check", "--progress-bar", "off", "--root-user-action", "ignore"),
    *("--no-warn-script-location", "-c", "constraints.txt"),
)
_FOUND = re.compile(r"(?:Collecting|Requirement already satisfied:|Processing) (\S+)")
_WRITING = re.compile(r"Installing collected packages: (.+)")


class Progress:
    """The progress of pip, read from its output."""

    def __init__(self) -> None:
        self.found: set[str] = set()
        self.writing = 0
        self.last: deque[str] = deque(maxlen=SHOWN)

    def read(self, line: str) -> None:
        """Takes a line of pip."""
        if line.strip():
            self.last.append(line.rstrip())
        if found := _FOUND.match(line.strip()):
            self.found.add(found[1])
        elif writing := _WRITING.match(line):
            self.writing = writing[1].count(",") + 1

    def describe(self, seconds: float) -> str:
        """Returns a line about the progress of the installation after `seconds`."""
        if self.writing:
            return f"  {seconds:.0f} s: writing {self.writing} packages to the disk"
        return f"  {seconds:.0f} s: {len(self.found)} packages found or downloaded"


def follow(lines: Iterable[str], progress: Progress, say: Callable[[str], None]) -> None:
    """Reads the lines to their end, and reports the progress, also between lines."""
    began = said = time.monotonic()
    for line in with_pauses(lines, 0.5):
        if line is not None:
            progress.read(line)
        now = time.monotonic()
        if now - said >= SAYS_EVERY:
            said = now
            say(progress.describe(now - began))


def with_pauses(lines: Iterable[str], seconds: float) -> Iterator[str | None]:
    """Yields the lines as they come, and None after each interval without a line."""
    waiting: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def read() -> None:
        for line in lines:
            waiting.put(line)
        waiting.put(None)

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = waiting.get(timeout=seconds)
        except queue.Empty:
            yield None
            continue
        if line is None:
            return
        yield line


def explain(progress: Progress) -> str:
    """Returns the text to show after a failure of pip."""
    text = "\n".join(progress.last)
    if "No space left on device" in text or describe_scarcity(ROOT):
        full = describe_scarcity(ROOT) or f"A disk is full, that of {ROOT} or of TMPDIR: free some"
        return f"The packages could not be installed. {full}, about 500 MB, and run make again."
    return f"{text}\nThe packages could not be installed: pip's last lines are above."


def main(files: list[str]) -> int:
    progress = Progress()
    requirements = [part for file in files for part in ("-r", file)]
    with subprocess.Popen(
        [*PIP, *requirements],
        cwd=ROOT,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    ) as process:
        assert process.stdout is not None
        follow(process.stdout, progress, lambda text: print(text, flush=True))
    if process.returncode != 0:
        print(explain(progress), file=sys.stderr)
    return process.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
