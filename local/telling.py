"""`python -m local.telling COMMAND ...` runs a command, and says every few seconds that it goes on.

For commands that say nothing themselves, such as `python -m venv`.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Sequence

SAYS_EVERY = 4.0  # seconds


def tell(command: Sequence[str], say: Callable[[str], None]) -> int:
    """Runs the command to its end; returns its exit status."""
    begun = time.monotonic()
    with subprocess.Popen(command) as process:
        while True:
            try:
                return process.wait(SAYS_EVERY)
            except subprocess.TimeoutExpired:
                say(f"  {time.monotonic() - begun:.0f} s: still at it")


def main() -> int:
    try:
        return tell(sys.argv[1:], lambda text: print(text, flush=True))
    except KeyboardInterrupt:  # the terminal has told the command, too
        return 130


if __name__ == "__main__":
    sys.exit(main())
