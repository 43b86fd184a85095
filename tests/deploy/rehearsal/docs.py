"""The commands that the documents give to operators, as they stand there."""

import re
from dataclasses import dataclass
from pathlib import Path

from tests.processes.stack import ROOT

OPERATIONS, UPGRADING = ROOT / "docs/operations.md", ROOT / "UPGRADING.md"


@dataclass(frozen=True)
class Quoted:
    """A command, and where it stands: the page and the title of the section."""

    page: Path
    section: str
    text: str

    def is_there(self) -> bool:
        return self.text in read_section(self.page, self.section)


def quote(text: str, section: str, page: Path = OPERATIONS) -> Quoted:
    return Quoted(page, section, text)


BACKUP = quote("python manage.py backup /var/backups/review-loop/monday.dump", "Backups")
NIGHTLY = quote("systemctl enable --now review-loop-backup.timer", "Backups")
RESTORE = quote("python manage.py restore FILE", "Backups")
DELIVERIES = quote("python manage.py deliveries", "Backups")
DELIVERIES_ON = quote("python manage.py deliveries on", "Backups")
DOCTOR = quote("python manage.py doctor", "Doctor")
ROTATE = quote("python manage.py rotatekeys", "Changing keys")
EXPORT = quote("python manage.py exportperson EMAIL", "Erasing a person")
ERASE = quote("python manage.py eraseperson EMAIL", "Erasing a person")
WITHOUT_ASKING = quote("--no-input", "Erasing a person")
COLLECT = quote("python manage.py collectstatic", "The steps", UPGRADING)
ALIVE = [quote(f"python -m config.alive {name}", "Health") for name in ("worker", "beat")]
ALL = (
    *(BACKUP, NIGHTLY, RESTORE, DELIVERIES, DELIVERIES_ON, DOCTOR, ROTATE, EXPORT, ERASE),
    *(WITHOUT_ASKING, COLLECT, *ALIVE),
)


def read_section(page: Path, title: str) -> str:
    """The text below a heading, to the next one of the same level or above."""
    text = page.read_text(encoding="utf-8")
    found = re.search(rf"^(#+) {re.escape(title)}$", text, re.MULTILINE)
    assert found, f"{page.name} has no section {title!r}"
    rest = text[found.end() :]
    following = re.search(rf"^#{{1,{len(found[1])}}} ", rest, re.MULTILINE)
    return rest[: following.start()] if following else rest


def read_commands(page: Path, title: str, having: str) -> list[str]:
    """The commands of the section's block in which `having` stands, with what belongs to each."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", read_section(page, title), re.DOTALL | re.MULTILINE)
    (block,) = (each for each in blocks if having in each)
    return re.findall(r"(?:.*\\\n)*(?:.*<<END\n(?:.*\n)*?END|.+)(?=\n)", block)


def read_install() -> list[str]:
    return read_commands(OPERATIONS, "Files for an installation", "useradd")


def read_second_machine() -> list[str]:
    return read_commands(OPERATIONS, "Files for an installation", "WEB_HOST")


def read_upgrade() -> list[str]:
    return read_commands(UPGRADING, "The steps", "review-loop-migrate")


def read_restart() -> list[str]:
    """Those of an upgrade that replace the processes."""
    mark = re.compile(r"systemctl restart review-loop-(web|worker)|curl ")
    return [command for command in read_upgrade() if mark.match(command)]
