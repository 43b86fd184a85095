"""What pages of docs/ that a script writes say of its run: of which commit, when, and where."""

import datetime
import os
import platform
import subprocess
import sys
from pathlib import Path

from tests.processes.stack import ROOT


def committed(folder: Path, page: Path) -> str:
    """The commit of the code, which must have no changes beside the page that is of it."""
    changed = git(folder, "status", "--porcelain", "--", ".", f":!{page.relative_to(ROOT)}")
    if changed:
        sys.exit(f"Commit first, because the page names the commit that it is of:\n{changed}")
    return git(folder, "rev-parse", "--short=12", "HEAD")


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(
        command, check=True, capture_output=True, encoding="utf-8"
    ).stdout.rstrip()


def moment() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%d %B %Y, %H:%M UTC").lstrip("0")


def machine() -> str:
    cores = os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    system = f"{platform.system()} {platform.machine()}"
    return f"{system} with {cores} cores and {memory:.0f} GiB, Python {platform.python_version()}"


def say(line: str) -> None:
    print(line, flush=True)
