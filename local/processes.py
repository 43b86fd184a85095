"""Starts and ends child processes that never outlive their parent."""

import contextlib
import ctypes
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

PR_SET_PDEATHSIG = 1  # linux/prctl.h

# Loaded at import, because between fork and exec only plain system calls are safe.
_prctl = getattr(ctypes.CDLL(None), "prctl", None)

Check = Callable[[], None]
"""Called while waiting; raises an exception such as Interrupted to end the wait."""


def keep_waiting() -> None:
    """A Check that always passes."""


def die_with_parent(death_signal: int = signal.SIGKILL) -> None:
    """Makes the kernel send `death_signal` to this process when its parent dies (Linux only).

    The kernel watches the thread that started the process, so start children in the main thread.
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
    inherited: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Starts `command` in its own session, with stdout and stderr sent to `output`.

    The terminal's Ctrl-C does not reach another session, so the supervisor decides the order of
    stopping. The process keeps the file descriptors `inherited`.
    """
    parent = os.getpid()

    def tie_to_parent() -> None:
        die_with_parent(death_signal)
        if os.getppid() != parent:  # the parent died before the call above
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
        pass_fds=inherited,
    )


def finish(process: subprocess.Popen[bytes], check: Check = keep_waiting) -> int:
    """Waits for a short command and returns its exit status; kills it if `check` raises."""
    try:
        while not ended_within(process, 0.05):
            check()
    except BaseException:
        kill_group(process)
        raise
    return process.returncode


def ended_within(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Waits up to `seconds` for the end of the process and returns whether it ended."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def stop(process: subprocess.Popen[bytes], steps: Sequence[tuple[int, float]]) -> None:
    """Sends the signals of `steps` in turn, each with its seconds to wait, then kills the rest."""
    for number, seconds in steps:
        if process.poll() is None:
            process.send_signal(number)
        if ended_within(process, seconds):
            break
    kill_group(process)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kills the process with everything that it started, and waits for its end."""
    # ProcessLookupError: the group has ended. macOS raises EPERM for a group of zombies.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
