"""Files through which the hooks of one call communicate.

Claude Code asks its user at the same time as its hook asks people, and never tells the hook that
the user was first. But once the call has run, another hook comes, which knows by the first one's
note whether that one allowed it. If not, it ends the hook that waits. And where a person edited the
call, it tells the model, which would otherwise not know what ran. No file has anything of the call
in it but names of arguments.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reviewloop.hooks.calls import Call, digest_call
from reviewloop.state import get_folder
from reviewloop.unique import new_key

KEPT_SECONDS = 2 * 86400


@contextlib.contextmanager
def known_as_waiting(call: Call) -> Iterator[None]:
    """Registers this process, so that the hook that follows the call can end it.

    The process keeps its file locked, so that no later process with its number is ended.
    """
    _forget_edits(call)
    path = _name(call, call.input, "waiting")
    with open(path, "w", encoding="ascii", opener=_open_privately) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(str(os.getpid()))
        file.flush()
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def end_waiting(call: Call) -> None:
    """Ends the hook that waits for this call; one of them if several calls are equal."""
    for path in _list(call, "waiting"):
        with contextlib.suppress(FileNotFoundError), path.open(encoding="ascii") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                os.kill(int(file.read()), signal.SIGTERM)
                path.unlink(missing_ok=True)
                return
            path.unlink(missing_ok=True)  # its process was killed


def note_allowed(call: Call, allowed: dict[str, Any], edited: list[str]) -> None:
    """Writes a note for the hook that follows the call: a person allowed it."""
    path = _name(call, allowed, "allowed")
    with open(path, "w", encoding="utf-8", opener=_open_privately) as file:
        json.dump(edited, file)


def take_note(call: Call) -> list[str] | None:
    """Removes the note about this call, if any, and returns the names of edited arguments."""
    for path in _list(call, "allowed"):
        with contextlib.suppress(FileNotFoundError):
            names: list[str] = json.loads(path.read_text(encoding="utf-8"))
            path.unlink()
            return names
    return None


def _forget_edits(call: Call) -> None:
    """Removes the notes of calls that were edited to be equal to this one, and did not run.

    The user of the agent was first with a No. The agent now proposes the call by itself.
    """
    for path in _list(call, "allowed"):
        with contextlib.suppress(FileNotFoundError):
            if json.loads(path.read_text(encoding="utf-8")):
                path.unlink()


def _name(call: Call, arguments: dict[str, Any], kind: str) -> Path:
    folder = _find_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_mtime < time.time() - KEPT_SECONDS:
                path.unlink()
    return folder / f"{_digest(call, arguments)}-{new_key()}.{kind}"


def _list(call: Call, kind: str) -> list[Path]:
    return list(_find_folder().glob(f"{_digest(call, call.input)}-*.{kind}"))


def _digest(call: Call, arguments: dict[str, Any]) -> str:
    session = hashlib.sha256(call.session.encode(errors="surrogatepass")).hexdigest()[:16]
    return f"{session}-{digest_call(call.tool, arguments)}"


def _find_folder() -> Path:
    return get_folder() / "hooks"


def _open_privately(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
