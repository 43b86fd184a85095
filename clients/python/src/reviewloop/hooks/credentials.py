"""The file with the address and the key: an agent's hooks may not get the shell's environment."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from reviewloop.configuration import read_key, read_url
from reviewloop.errors import ConfigurationError


def find_file() -> Path:
    return Path.home() / ".config" / "reviewloop" / "hook.json"


def load(path: Path) -> tuple[str, str]:
    """Returns the address and the key from the file, or from the environment without a file.

    Raises ConfigurationError.
    """
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        return read_url(stored["url"]), read_key(stored["key"])
    except FileNotFoundError:
        return read_url(None), read_key(None)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(f"{path}: {error!r}") from None


def store(path: Path, url: str, key: str) -> None:
    """Writes the file, which only its owner can read."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with open(descriptor, "w", encoding="utf-8") as file:
        json.dump({"url": url, "key": key}, file, indent=1)
    os.replace(draft, path)
