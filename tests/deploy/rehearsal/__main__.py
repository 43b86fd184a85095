"""`make rehearse`: walks docs/operations.md with real processes, and writes docs/rehearsal.md."""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from tests.deploy.installation import NGINX
from tests.deploy.pooler import PGBOUNCER
from tests.deploy.rehearsal import page, upgrading
from tests.deploy.rehearsal.page import Row
from tests.deploy.rehearsal.site import prepared, unpack
from tests.faults.receiver import receiving
from tests.measured import committed, say
from tests.processes.stack import ROOT


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--earlier", help="the commit that is upgraded; the newest that can be")
    parser.add_argument("--only", default="", help="`upgrade` or `life`; writes nothing")
    options = parser.parse_args()
    if not (NGINX and PGBOUNCER):
        sys.exit("apt-get install nginx-light pgbouncer")
    commit = committed(ROOT, page.PAGE)
    earlier = options.earlier or upgrading.find_earlier()
    with tempfile.TemporaryDirectory(prefix="rehearsal-") as name:
        folder = Path(name)
        new = unpack(upgrading.archive("HEAD", folder), folder / f"review-loop-{commit}")
        old = unpack(upgrading.archive(earlier, folder), folder / f"review-loop-{earlier}")
        rows = []
        if options.only != "upgrade":
            rows += live(folder, new)
        if options.only != "life":
            rows += upgrade(folder, old, new)
    text = page.write(rows, commit, earlier)
    if not options.only:
        page.PAGE.write_text(text, encoding="utf-8")
        say(f"wrote {page.PAGE.relative_to(ROOT)}")


def timed(section: str, what: str, step: Callable[[], str]) -> Row:
    begun = time.monotonic()
    found = step()
    row = Row(section, what, found, time.monotonic() - begun)
    say(f"{row.seconds:6.1f} s  {what}: {found}")
    return row


def live(folder: Path, code: Path) -> list[Row]:
    """The life of an installation, which moves to another server."""
    with ExitStack() as stack:
        receiver = stack.enter_context(receiving())
        site = stack.enter_context(prepared(folder / "a", code, receiver))
        rows = [timed(section, what, partial(step, site)) for section, what, step in page.LIFE]
        other = stack.enter_context(prepared(folder / "b", code, receiver, site.installation))
        for section, what, step in page.MOVE:
            rows.append(timed(section, what, partial(step, site, other)))
    return rows


def upgrade(folder: Path, old: Path, new: Path) -> list[Row]:
    """An installation of the version before, and its upgrade."""
    with receiving() as receiver, prepared(folder / "c", old, receiver) as site:
        return [
            timed(section, what, partial(step, site, new)) for section, what, step in page.UPGRADE
        ]


if __name__ == "__main__":
    main()
