"""Stores a question in a file, in which a restarted program finds it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from reviewloop.errors import ResumeConflict
from reviewloop.types import Request

VERSION = 1
KEPT_SECONDS = 90 * 86400  # unused files of names are removed after this time
# The fields that identify a question. The others may differ between starts.
IDENTITY = ("request_text", "response_type", "response_config", "default_response", "image_url")


@dataclass(frozen=True)
class Record:
    """A question before its create (`request_id` is None), asked, or ended."""

    loop: str | None  # as the caller named it
    loop_id: str
    body: dict[str, Any]
    idempotency_key: str
    begun_at: float  # Unix seconds, before the create was first sent
    request_id: str | None = None
    request: Request | None = None

    def check_same(self, fields: Mapping[str, Any], loop: str | None, where: str) -> None:
        """Raises ResumeConflict if the caller asks another question than the stored one."""
        same = all(_plain(self.body.get(name)) == _plain(fields.get(name)) for name in IDENTITY)
        if not same or self.loop != loop:
            asked = self.body["request_text"]
            raise ResumeConflict(
                f"{where} belongs to another question: {asked!r}. Use another name for this one."
            )


class State:
    """The file of one question. It is on the disk before the create is sent."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self) -> Record | None:
        """Returns the stored question, or None. Raises ResumeConflict."""
        try:
            stored = json.loads(self.path.read_text(encoding="utf-8"))
            version = stored.pop("version")
            if version == VERSION:
                return Record(**stored)
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, AttributeError):
            pass
        raise ResumeConflict(f"{self.path} is no file of this version of reviewloop")

    def create(self, record: Record) -> Record:
        """Stores a new question; returns an existing one of another process instead."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _written(self.path, record) as draft:
            try:
                os.link(draft, self.path)  # fails if the file exists, unlike a rename
            except FileExistsError:
                return self.load() or record
            except OSError:  # a file system without links
                os.replace(draft, self.path)
        _sync_folder(self.path.parent)
        return record

    def update(self, record: Record, **changes: Any) -> Record:
        """Stores new facts about the question."""
        changed = replace(record, **changes)
        with _written(self.path, changed) as draft:
            os.replace(draft, self.path)
        _sync_folder(self.path.parent)
        return changed

    def discard(self) -> None:
        """Removes the file."""
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()


def name_file(url: str, account_id: str, name: str) -> Path:
    """Returns the path of the file of a name."""
    digest = hashlib.sha256("\n".join((url, account_id, name)).encode()).hexdigest()
    return get_folder() / f"{digest[:40]}.json"


def get_folder() -> Path:
    """Returns the folder of named questions, which REVIEW_LOOP_STATE can change."""
    if given := os.environ.get("REVIEW_LOOP_STATE"):
        return Path(given)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    else:
        base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "reviewloop"


def remove_old_files() -> None:
    """Removes the unused files of names."""
    with contextlib.suppress(OSError):
        for path in get_folder().glob("*.json"):
            if path.stat().st_mtime < time.time() - KEPT_SECONDS:
                path.unlink()


def _plain(value: Any) -> Any:
    """Returns the value as it is after a round trip through JSON: a tuple becomes a list."""
    return json.loads(json.dumps(value))


@contextlib.contextmanager
def _written(path: Path, record: Record) -> Any:
    """Writes a temporary file to the disk; removes it after the block."""
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            json.dump({"version": VERSION, **asdict(record)}, file, ensure_ascii=False, indent=1)
            file.flush()
            os.fsync(file.fileno())
        yield draft
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(draft)


def _sync_folder(folder: Path) -> None:
    """Flushes the folder, so that the name of a new file is on the disk."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
