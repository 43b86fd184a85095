"""Stops the PostgreSQL process that a killed run left behind."""

import os
import signal
import subprocess
import time
from pathlib import Path

from local.processes import Check, keep_waiting

# Signals and seconds to wait. 0 sends no signal: a postmaster without supervisor is stopping.
STEPS = ((0, 2.0), (signal.SIGINT, 5.0), (signal.SIGQUIT, 2.0), (signal.SIGKILL, 5.0))


def stop_leftover(data: Path, check: Check = keep_waiting) -> None:
    """Stops the process named by postmaster.pid, if it is a postmaster of this cluster.

    Call it with the data folder locked. If another process has the pid now, only the file is
    removed. If no process has it, PostgreSQL handles the file itself.
    """
    file = data / "postmaster.pid"
    lines = read_lines(file)
    pid = int(lines[0]) if lines and lines[0].isdigit() else 0
    for number, seconds in STEPS:
        if not is_postmaster_of(pid, data):
            break
        send_signal(pid, number)
        deadline = time.monotonic() + seconds
        while is_postmaster_of(pid, data) and time.monotonic() < deadline:
            check()
            time.sleep(0.05)
    if pid == 0 or send_signal(pid, 0):
        file.unlink(missing_ok=True)


def is_postmaster_of(pid: int, data: Path) -> bool:
    command = read_command(pid) if pid else ""
    return "postgres" in command and str(data) in command


def read_command(pid: int) -> str:
    """Returns the command of a process; "" if there is none or it is a zombie."""
    if Path("/proc/self/cmdline").exists():
        try:
            raw = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return ""
    else:
        ps = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
        raw = subprocess.run(ps, capture_output=True, check=False).stdout
    return raw.replace(b"\0", b" ").decode("utf-8", "replace")


def send_signal(pid: int, number: int) -> bool:
    """Sends a signal (0 sends none) and returns whether the process exists."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def read_lines(file: Path) -> list[str]:
    """Returns the lines of a file; none if it does not exist."""
    try:
        return file.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
