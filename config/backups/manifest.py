"""The manifest: the last line of a backup, which pg_restore does not read.

The manifest describes the backup, so that `restore` refuses one that this service cannot use. `tail
-n 1 FILE` shows it. It names encryption keys by their fingerprints and contains no key.
"""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

from config.backups import Refused

FORMAT = 1
LONGEST = 1_000_000  # bytes
BLOCK = 1 << 20
BEGIN = b'\n{"review_loop_backup": '


@dataclass(frozen=True)
class Manifest:
    """The description of a backup.

    `made_at` is in UTC; `keys` has the fingerprints of the keys that its secrets need; `migrations`
    the names of applied migrations; `size` and `sha256` describe the dump before the manifest.
    """

    review_loop_backup: int
    made_at: str
    version: str
    postgres: int
    schema: str
    keys: list[str]
    migrations: list[str]
    size: int
    sha256: str


def append(path: Path, manifest: Manifest) -> None:
    """Appends the manifest to the dump."""
    with path.open("ab") as file:
        file.write(b"\n" + json.dumps(asdict(manifest)).encode() + b"\n")


def read(path: Path) -> Manifest:
    """Reads the manifest, and checks that the dump before it is whole. Raises Refused."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            start = max(0, size - LONGEST)
            file.seek(start)
            tail = file.read()
            at = tail.rfind(BEGIN)
            if at < 0 or not tail.endswith(b"}\n"):
                raise Refused(
                    f"{path} is no complete backup: `manage.py backup` did not make it, or its end"
                    " is missing."
                )
            manifest = _parse(path, tail[at:])
            file.seek(0)
            if manifest.size != start + at or digest(file, manifest.size) != manifest.sha256:
                raise Refused(f"{path} is damaged: its content does not fit its checksum.")
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror}.") from None
    return manifest


def digest(file: BinaryIO, size: int) -> str:
    """Returns the SHA-256 of the next bytes of a file."""
    sha256 = hashlib.sha256()
    while size > 0 and (block := file.read(min(size, BLOCK))):
        sha256.update(block)
        size -= len(block)
    return sha256.hexdigest()


def _parse(path: Path, line: bytes) -> Manifest:
    try:
        content = json.loads(line)
        if content["review_loop_backup"] == FORMAT:
            return Manifest(**content)
    except (ValueError, TypeError):
        raise Refused(f"{path} is damaged: its last line cannot be read.") from None
    raise Refused(f"{path} was made by a newer version, {content.get('version')}: update first.")
