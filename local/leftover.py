"""What a killed run leaves in PostgreSQL's way."""

import os
import signal
import subprocess
import time
from pathlib import Path

from local.processes import Check, keep_waiting

# A postmaster that lost its supervisor is already on its way down; then with more emphasis.
STEPS = ((0, 2.0), (signal.SIGINT, 5.0), (signal.SIGQUIT, 2.0), (signal.SIGKILL, 5.0))


def stop_leftover(data: Path, check: Check = keep_waiting) -> None:
    """Make way where postmaster.pid names a living process. The data folder's lock is in hand.

    A postmaster of this cluster lost its supervisor, and is stopped; any other process merely
    has the number of one that was killed, and the file goes. A dead number is PostgreSQL's own
    business.
    """
    file = data / "postmaster.pid"
    lines = read_lines(file)
    pid = int(lines[0]) if lines and lines[0].isdigit() else 0
    for number, seconds in STEPS:
        if not is_postmaster_of(pid, data):
            break
        send(pid, number)
        deadline = time.monotonic() + seconds
        while is_postmaster_of(pid, data) and time.monotonic() < deadline:
            check()
            time.sleep(0.05)
    if pid == 0 or send(pid, 0):
        file.unlink(missing_ok=True)


def is_postmaster_of(pid: int, data: Path) -> bool:
    command = command_line(pid) if pid else ""
    return "postgres" in command and str(data) in command


def command_line(pid: int) -> str:
    """The command of a process; "" for none, and for one that is dead but not collected."""
    if Path("/proc/self/cmdline").exists():
        try:
            raw = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return ""
    else:
        listing = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
        raw = subprocess.run(listing, capture_output=True, check=False).stdout
    return raw.replace(b"\0", b" ").decode("utf-8", "replace")


def send(pid: int, number: int) -> bool:
    """Send a signal (0 only asks). True when there is such a process, ours or not."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def read_lines(file: Path) -> list[str]:
    """The lines of a file, none when it is not there."""
    try:
        return file.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
