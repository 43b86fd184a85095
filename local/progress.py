"""`python -m local.progress COMMAND ...` runs a command and reports that it still runs.

For commands without output of their own, such as `python -m venv`.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Sequence

REPORT_SECONDS = 4.0  # seconds


def run(command: Sequence[str], say: Callable[[str], None]) -> int:
    """Runs the command to its end; returns its exit status."""
    begun = time.monotonic()
    with subprocess.Popen(command) as process:
        while True:
            try:
                return process.wait(REPORT_SECONDS)
            except subprocess.TimeoutExpired:
                say(f"  {time.monotonic() - begun:.0f} s: still at it")


def main() -> int:
    try:
        return run(sys.argv[1:], lambda text: print(text, flush=True))
    except KeyboardInterrupt:  # the terminal has interrupted the command as well
        return 130


if __name__ == "__main__":
    sys.exit(main())
