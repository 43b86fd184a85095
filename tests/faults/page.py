"""The sections of docs/reliability.md, which several scripts write."""

import re

from tests.measured import say
from tests.processes.stack import ROOT

PAGE = ROOT / "docs" / "reliability.md"
STORM = "## A storm, and its history"
FAILOVERS = "## A cluster that loses a node"
SOAK = "## Twenty minutes beside all maintenance"


def rewrite(section: list[str]) -> None:
    """Puts a section of another script in place of the one before, or in front of the storm."""
    written = "\n".join([*section, ""])
    found, title = read_parts(), f"{section[0]}\n"
    if any(each.startswith(title) for each in found):
        found = [written if each.startswith(title) else each for each in found]
    else:
        found = [f"{written}{each}" if each.startswith(STORM) else each for each in found]
    PAGE.write_text("".join(found), encoding="utf-8")
    say(f"wrote the section in {PAGE.relative_to(ROOT)}")


def read_parts() -> list[str]:
    """The page: what stands before its first section, and each section."""
    return re.split("^(?=## )", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
