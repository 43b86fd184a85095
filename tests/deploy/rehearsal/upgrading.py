"""From an earlier commit to this one, while people and programs work."""

import sys
import time
from pathlib import Path

from tests.deploy.rehearsal import docs
from tests.deploy.rehearsal.site import Site
from tests.measured import git
from tests.processes.stack import ROOT
from tests.waiting import wait_until

SIDE_BY_SIDE = 20  # answers that the old code takes with the new tables


def list_migrations(revision: str, root: Path = ROOT) -> set[str]:
    files = git(root, "ls-tree", "-r", "--name-only", revision).splitlines()
    return {name for name in files if "/migrations/0" in name and name.endswith(".py")}


def find_earlier(root: Path = ROOT) -> str:
    """The newest commit that lacks a migration of today's, and has no other."""
    today = list_migrations("HEAD", root)
    parents = git(root, "log", "--format=%p", "--diff-filter=A", "--", "*/migrations/0*.py")
    for parent in parents.split():
        if set() < list_migrations(parent, root) < today:
            return git(root, "rev-parse", "--short=12", parent)
    sys.exit("No commit has fewer migrations than this one: name one with --earlier")


def archive(revision: str, folder: Path) -> Path:
    """The code of a commit, without what is not in git."""
    file = folder / f"{revision}.tar"
    git(ROOT, "archive", "--output", str(file), revision)
    return file


def install_old(site: Site) -> str:
    """The earlier commit, with the commands of today's documents."""
    site.install()
    site.populate()
    return "the earlier commit runs"


def upgrade(site: Site, new: Path) -> str:
    """The steps of UPGRADING.md, under traffic."""
    traffic = site.new_traffic()
    doctor, *following, again = docs.read_upgrade()
    with traffic.flowing():
        site.shell.quote(docs.BACKUP)
        site.shell.folder = new
        collect(site)
        said = site.shell.type(doctor, status=1)
        assert "migrat" in said, said
        for command in following:
            begun = time.monotonic()
            site.shell.type(command)
            if command.startswith("systemctl restart review-loop-migrate"):
                took = time.monotonic() - begun
                traffic.wait_for_more(SIDE_BY_SIDE)
        wait_until(site.installation.is_ready, 60)
        traffic.wait_for_more()
        site.shell.type(again)
    found = traffic.check(site.servers.direct)
    return f"`migrate` took {took:.0f} s; {found}; {traffic.tries.describe()}"


def collect(site: Site) -> None:
    """`collectstatic` as before."""
    (command,) = (each for each in docs.read_install() if "collectstatic" in each)
    site.shell.type(command)
