"""Measures the free space of the data folder's disk, and explains a lack of it."""

import errno
import shutil
from pathlib import Path

from local import CannotStart

FIRST_START = 250 * 2**20  # bytes; a new data folder takes about 120 MB, and has to grow
LATER_START = 50 * 2**20  # PostgreSQL creates a new 16 MB file of its log when one is full
SCARCE = 20 * 2**20
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


def check_space(folder: Path) -> None:
    """Raises CannotStart if the disk has too little space for the data folder, existing or not."""
    is_first = not (folder / "postgres").exists()
    needed = FIRST_START if is_first else LATER_START
    free = measure_free(folder)
    if free < needed:
        what = "a new database needs" if is_first else "PostgreSQL needs"
        raise CannotStart(
            f"The disk of {folder} has {free // 2**20} MB left, but {what} {needed // 2**20} MB: "
            "free some space, or choose a folder on another disk with DATA_DIR=…"
        )


def measure_free(folder: Path) -> int:
    """Returns the bytes that are free where the folder is, or will be."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


def describe_scarcity(folder: Path) -> str:
    """Returns a sentence if the disk is full, '' if another cause is likely."""
    try:
        free = measure_free(folder)
    except OSError:
        return ""
    if free >= SCARCE:
        return ""
    return f"The disk of {folder} is full ({free // 2**20} MB left): free some space"
