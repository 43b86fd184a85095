"""`python -m config.alive worker|beat` checks whether the worker or beat of this machine runs.

Both touch a file while their loop runs; the check reads its age. The check needs neither Django,
PostgreSQL nor Redis, and takes 30 ms.
"""

import os
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

KINDS = ("worker", "beat")
MAX_AGE = 60.0  # seconds; both touch the file every few seconds


def find_file(kind: str) -> Path:
    """Returns the file in ALIVE_DIR that the worker or beat touches."""
    folder = os.environ.get("ALIVE_DIR") or os.environ.get("DATA_DIR") or tempfile.gettempdir()
    return Path(folder) / f"reviewloop-{kind}.alive"


def touch(kind: str) -> None:
    """Records that the loop runs. Ignores a folder that cannot be written."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with suppress(OSError):
        descriptor = os.open(find_file(kind), flags, 0o600)
        try:
            os.utime(descriptor)
        finally:
            os.close(descriptor)


def describe(kind: str) -> tuple[bool, str]:
    """Returns whether the loop runs, and a sentence about it."""
    file = find_file(kind)
    try:
        age = time.time() - file.lstat().st_mtime
    except OSError:
        return False, f"No {kind} has run on this machine: there is no {file}."
    if age > MAX_AGE:
        return False, f"The {kind} has not been at work for {age:.0f} s ({file})."
    return True, f"The {kind} was at work {max(age, 0):.0f} s ago."


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0] not in KINDS:
        print("usage: python -m config.alive worker|beat", file=sys.stderr)
        return 2
    is_alive, sentence = describe(arguments[0])
    print(sentence, file=sys.stdout if is_alive else sys.stderr)
    return 0 if is_alive else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
