"""The data folder of a local run: its lock, its secrets and its environment file."""

import base64
import fcntl
import hashlib
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from local import CannotStart

# Sockets are in DATA_DIR only if its path is short and plain: a socket's path may have 107 bytes,
# libpq splits hosts at commas, and clients quote differently.
PLAIN_PATH = re.compile(r"[A-Za-z0-9/._-]{1,75}")


class DataFolder:
    """A locked data folder; `close` releases the lock."""

    def __init__(self, path: Path) -> None:
        """Creates the folder if it is new, and locks it. Raises CannotStart."""
        self.path = path.absolute()
        self.env_file = self.path / "env"
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise CannotStart(
                f"The data folder {self.path} cannot be used ({error.strerror}): "
                "choose another with DATA_DIR=…"
            ) from error
        self._take_lock()
        self.sockets = self._make_socket_folder()

    def _take_lock(self) -> None:
        # The kernel releases the lock when its process dies, so a killed run leaves no stale lock.
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(self._lock, 20).decode("ascii", "replace").strip()
            os.close(self._lock)
            raise CannotStart(
                f"The data folder {self.path} is in use by process {holder or 'unknown'}: "
                "stop that run first, or choose another folder with DATA_DIR=…"
            ) from error
        os.truncate(self._lock, 0)
        os.pwrite(self._lock, f"{os.getpid()}\n".encode(), 0)

    def _make_socket_folder(self) -> Path:
        folder = self.path / "sockets"
        if not PLAIN_PATH.fullmatch(str(folder)):
            name = hashlib.sha256(os.fsencode(self.path.resolve())).hexdigest()[:16]
            folder = Path(tempfile.gettempdir()) / f"review-loop-{os.getuid()}-{name}"
        # In a shared temporary folder, another user may have created this folder, or a link.
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            raise CannotStart(
                f"{folder} is in the way: remove it, or set TMPDIR to a folder of yours"
            )
        try:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise CannotStart(
                f"The folder for sockets, {folder}, cannot be made ({error.strerror}): "
                "remove it, or set TMPDIR to a folder of yours"
            ) from error
        return folder

    def load_secret_key(self) -> str:
        """Returns this folder's SECRET_KEY; it is saved, so that sessions survive a restart."""
        return self._load_or_create("secret_key", secrets.token_urlsafe(50))

    def load_encryption_key(self) -> str:
        """Returns this folder's ENCRYPTION_KEYS; without it the webhook secrets are unreadable."""
        return self._load_or_create(
            "encryption_key", base64.urlsafe_b64encode(os.urandom(32)).decode()
        )

    def load_vapid_key(self) -> str:
        """Returns this folder's VAPID_PRIVATE_KEY; a push subscription works with one key only.

        Any number of 255 bits except zero is a private key of P-256.
        """
        number = secrets.randbits(255) or 1
        return self._load_or_create(
            "vapid_key", base64.urlsafe_b64encode(number.to_bytes(32)).decode()
        )

    def _load_or_create(self, name: str, new_value: str) -> str:
        file = self.path / name
        if not file.exists():
            write_private(file, new_value)
        return file.read_text(encoding="utf-8").strip()

    def write_environment(self, values: Mapping[str, str]) -> None:
        """Writes DATA_DIR/env, from which `manage.py` in another terminal reads its settings."""
        write_private(self.env_file, "".join(f"{name}={value}\n" for name, value in values.items()))

    def close(self) -> None:
        """Removes the environment file and the sockets, then releases the lock."""
        self.env_file.unlink(missing_ok=True)
        shutil.rmtree(self.sockets, ignore_errors=True)
        os.truncate(self._lock, 0)
        os.close(self._lock)


def write_private(file: Path, text: str) -> None:
    """Writes a file for its owner only, atomically even if the machine crashes."""
    partial = file.with_name(file.name + ".partial")
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(descriptor)
    partial.replace(file)
