"""Makes a release from the changelog (`make release`)."""

import re
import subprocess
from datetime import date
from pathlib import Path

UNRELEASED = "## Unreleased\n"
# Where the version stands, each with one group before it and one after it.
PLACES = {
    "pyproject.toml": r'(^version = ")[^"]+(")',
    "config/release.py": r'(^VERSION = ")[^"]+(")',
    "deploy/kubernetes/kustomization.yaml": r'(newTag: ")[^"]+(")',
}
RELEASED = "tests/schema/released.txt"
Version = tuple[int, int, int]


class Refused(Exception):
    """No release is made; the message gives the reason."""


def make_release(root: Path, wanted: str, leaves: dict[str, str], today: date) -> str:
    """Writes the version and the date everywhere, and returns the version. Raises Refused.

    It commits nothing and tags nothing. `leaves` has the last migration of each app.
    """
    check_clean(root)
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    news = read_unreleased(changelog)
    current = read_version(root)
    version = parse(wanted) if wanted else choose_next(current, news)
    if version <= current:
        raise Refused(f"{format_version(version)} is not newer than {format_version(current)}.")
    name = format_version(version)
    for file in ("CHANGELOG.md", "UPGRADING.md"):
        text = (root / file).read_text(encoding="utf-8")
        heading = f"{UNRELEASED}\n## {name} · {today.isoformat()}\n"
        (root / file).write_text(text.replace(UNRELEASED, heading, 1), encoding="utf-8")
    for file, pattern in PLACES.items():
        text = (root / file).read_text(encoding="utf-8")
        text, count = re.subn(pattern, rf"\g<1>{name}\g<2>", text, flags=re.MULTILINE)
        if count != 1:
            raise Refused(f"{file} has the version {count} times.")
        (root / file).write_text(text, encoding="utf-8")
    write_released(root / RELEASED, leaves)
    return name


def check_clean(root: Path) -> None:
    command = ["git", "-C", str(root), "status", "--porcelain"]
    found = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)  # noqa: S603
    if found.returncode != 0:
        raise Refused(f"git does not know this folder: {found.stderr.strip()}")
    if found.stdout:
        raise Refused(f"There are changes that are not committed:\n{found.stdout.rstrip()}")


def read_unreleased(changelog: str) -> str:
    """Returns the text below Unreleased. Raises Refused if it is empty."""
    _, found, rest = changelog.partition(UNRELEASED)
    news = re.split(r"^## ", rest, maxsplit=1, flags=re.MULTILINE)[0]
    if not found or not re.search(r"^- ", news, re.MULTILINE):
        raise Refused("CHANGELOG.md has nothing below Unreleased.")
    return news


def read_version(root: Path) -> Version:
    text = (root / "config/release.py").read_text(encoding="utf-8")
    found = re.search(r'^VERSION = "([^"]+)"', text, re.MULTILINE)
    return parse(found[1] if found else "")


def choose_next(current: Version, news: str) -> Version:
    """Chooses the version by the headings of the changelog.

    From 1.0 on, a removal makes a major version; fixes alone make a patch.
    """
    major, minor, patch = current
    headings = set(re.findall(r"^### (.+)$", news, re.MULTILINE))
    if "Removed" in headings and major:
        return major + 1, 0, 0
    if headings and headings <= {"Fixed", "Security"}:
        return major, minor, patch + 1
    return major, minor + 1, 0


def parse(text: str) -> Version:
    if not re.fullmatch(r"\d+\.\d+\.\d+", text):
        raise Refused(f"{text!r} is no version such as 1.2.3.")
    major, minor, patch = (int(part) for part in text.split("."))
    return major, minor, patch


def format_version(version: Version) -> str:
    return ".".join(str(part) for part in version)


def write_released(file: Path, leaves: dict[str, str]) -> None:
    lines = [f"{app}.{name}" for app, name in sorted(leaves.items())]
    comment = (
        "# The last migration of each app in the last release: `make release` writes this file.\n"
    )
    file.write_text(comment + "\n".join(lines) + "\n", encoding="utf-8")
