"""Child processes that never outlive their parent."""

import contextlib
import ctypes
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

PR_SET_PDEATHSIG = 1  # linux/prctl.h

# Loaded here and not in the child: between fork and exec only plain system calls are safe.
_prctl = getattr(ctypes.CDLL(None), "prctl", None)

Check = Callable[[], None]
"""Called while waiting; raises to give up (for instance Interrupted)."""


def keep_waiting() -> None:
    """The Check that never gives up."""


def die_with_parent(death_signal: int = signal.SIGKILL) -> None:
    """Have the kernel send `death_signal` to this process when its parent dies (Linux only).

    It is tied to the thread that started the process, so children start from the main thread.
    """
    if _prctl is not None:
        _prctl(PR_SET_PDEATHSIG, int(death_signal))


def spawn(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    output: int | IO[bytes],
    cwd: str | Path,
    death_signal: int = signal.SIGKILL,
) -> subprocess.Popen[bytes]:
    """Start `command` in a session of its own, with both outputs sent to `output`.

    A session of its own keeps the terminal's Ctrl-C away: the order of stopping is ours.
    """
    parent = os.getpid()

    def tie_to_parent() -> None:
        die_with_parent(death_signal)
        if os.getppid() != parent:  # it died before the kernel was asked
            os._exit(1)

    return subprocess.Popen(
        command,
        env=dict(env),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=tie_to_parent,
    )


def finish(process: subprocess.Popen[bytes], check: Check = keep_waiting) -> int:
    """Wait for the end of a short command; end it when `check` raises. Returns its exit status."""
    try:
        while not ended_within(process, 0.05):
            check()
    except BaseException:
        kill_group(process)
        raise
    return process.returncode


def ended_within(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """True as soon as the process has ended, False when it has not after `seconds`."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def stop(process: subprocess.Popen[bytes], steps: Sequence[tuple[int, float]]) -> None:
    """Send each signal of `steps` in turn, giving the seconds beside it; kill what is left."""
    for number, seconds in steps:
        if process.poll() is None:
            process.send_signal(number)
        if ended_within(process, seconds):
            break
    kill_group(process)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill the process with everything that it started, and collect it."""
    # No such group: it is gone already. macOS says EPERM of a group of zombies.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
