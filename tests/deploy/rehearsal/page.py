"""Writes docs/rehearsal.md."""

import os
from dataclasses import dataclass

from tests.deploy.rehearsal import moving, steps, upgrading
from tests.measured import machine, moment
from tests.processes.stack import ROOT

PAGE = ROOT / "docs" / "rehearsal.md"
INSTALL = "Files for an installation"
# The section of docs/operations.md that a step follows, what it shows, and the step.
LIFE = (
    (INSTALL, "from nothing to a green `/readyz` behind TLS", steps.install),
    ("Limits", "the first question, and the operator", steps.first_answer),
    (INSTALL, "a second machine", steps.second_machine),
    ("Upgrades", "every process restarted under traffic", steps.restart),
    ("Changing keys", "both keys changed in three steps", steps.change_keys),
    ("Backups", "a backup", moving.back_up),
)
MOVE = (
    ("Backups", "restored on another server, quiet", moving.restore),
    ("Quiet mode", "deliveries on", lambda _, new: moving.send_again(new)),
    ("Erasing a person", "a person exported and erased", lambda _, new: steps.erase(new)),
)
UPGRADE = (
    (INSTALL, "the version before, from nothing", lambda site, _: upgrading.install_old(site)),
    ("Upgrades", "an upgrade under traffic", upgrading.upgrade),
)


@dataclass(frozen=True)
class Row:
    """A step of the table."""

    section: str
    what: str
    found: str
    seconds: float


INTRODUCTION = """\
# Rehearsal

`make rehearse` wrote this page. It does what [operations.md](operations.md) and
[UPGRADING.md](../UPGRADING.md) tell an operator to do, with their very commands: only addresses,
ports, passwords and paths are others. The processes are those of `deploy/systemd`, started as an
ordinary user, behind nginx with TLS and PgBouncer with the files of `deploy/`.

“Under traffic” means that two programs ask and wait for the answer, with an `Idempotency-Key` for
each create, while two people answer on pages, and that a call which gets a 502, 503 or 504, or no
response, is sent again as our libraries do. Afterwards each request is there once, with the answer
that was given, and each answer was told by webhook under one id.

Not rehearsed: building images, Docker and Kubernetes; systemd itself, which starts, stops and
confines the units; two machines, which are two addresses of this one; installing the packages.
"""


def write(rows: list[Row], commit: str, earlier: str) -> str:
    """The page about one run."""
    lines = [
        f"{moment()}, of commit {commit}, upgraded from commit {earlier}, {machine()}, load average"
        f" {os.getloadavg()[2]:.0f}.",
        "",
        "| Section | Step | Seconds | Found |",
        "|---|---|---|---|",
        *(f"| {row.section} | {row.what} | {row.seconds:.0f} | {row.found} |" for row in rows),
        "",
        f"All in all {sum(row.seconds for row in rows):.0f} s.",
        "",
    ]
    return "\n".join([INTRODUCTION, *lines])
