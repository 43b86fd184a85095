"""The section of docs/reliability.md about a cluster that loses nodes.

`python -m tests.faults.failover_page` lets everything fail once, in some five minutes. Runs of the
same commit add up in build/failovers.jsonl, and the section is of all of them: a run that failed is
kept too, and then there is no section.
"""

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from tests.faults.failovers import AWAY, BLOWS, Failed, Failover, measure
from tests.faults.page import FAILOVERS, PAGE, rewrite
from tests.faults.trial import NotTried
from tests.measured import committed, say
from tests.processes.stack import ROOT

RUNS = ROOT / "build" / "failovers.jsonl"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=1, help="how often everything fails")
    parser.add_argument("--fault", default="", help="only what has these words in its name")
    options = parser.parse_args()
    commit = committed(ROOT, PAGE)
    names = [name for name in BLOWS if options.fault in name] * options.repeats
    runs = Runs(RUNS, commit)
    with tempfile.TemporaryDirectory(prefix="review-loop-failovers-") as folder:
        try:
            measure(Path(folder) / "clustered", names, runs.keep)
        except Failed as failure:
            runs.keep_failure(*failure.args)
            sys.exit("\n".join(failure.args))
        except NotTried as reason:
            sys.exit(f"Not tried: {reason}")
    rewrite(report(runs.load(), commit))


class Runs:
    """The runs of a commit, in a file that has those of others too."""

    def __init__(self, file: Path, commit: str) -> None:
        self.file, self.commit = file, commit

    def keep(self, run: Failover) -> None:
        self._append(asdict(run))
        say(str(run))

    def keep_failure(self, name: str, reason: str) -> None:
        self._append({"name": name, "failed": reason.partition("\n")[0]})

    def _append(self, row: dict[str, object]) -> None:
        self.file.parent.mkdir(exist_ok=True)
        with self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"commit": self.commit, **row}) + "\n")

    def load(self) -> list[Failover]:
        """Raises Failed for a run of this commit that failed."""
        found = []
        for line in self.file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if row.pop("commit") != self.commit:
                continue
            if "failed" in row:
                raise Failed(row["name"], row["failed"])
            found.append(Failover(**row))
        return found


def report(found: list[Failover], commit: str) -> list[str]:
    """The section: a row for each blow, with the seconds of each run."""
    latest = max(each.late for each in found)
    lines = [
        FAILOVERS,
        "",
        f"Of commit {commit}, {len(found)} runs.",
        "Two web servers behind nginx, two workers and two beats over the cluster of `deploy/ha`,",
        "all on this machine. Four callers create and cancel requests without a pause, as our",
        "libraries do: with an `Idempotency-Key`, and again after 502, 503 or no answer. A node",
        f"that is gone stays away for {AWAY:.0f} s. Afterwards everything acknowledged is stored,",
        "once; nothing had to be started by hand, no process of the service ended, and every event",
        f"was delivered, at most {latest:.0f} s later. The cluster is whole once commits wait for",
        "a standby; the seconds count from the failure, or from the return of what was gone.",
        "",
        "| What fails | Runs | Writes acknowledged | Lost | Doubled"
        " | Seconds without a write | Seconds until the cluster is whole |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in BLOWS:
        if runs := [each for each in found if each.name == name]:
            cells = [
                name,
                str(len(runs)),
                f"{sum(each.acknowledged for each in runs):,}",
                str(sum(each.lost for each in runs)),
                str(sum(each.doubled for each in runs)),
                ", ".join(f"{each.pause:.1f}" for each in runs),
                ", ".join(f"{each.whole:.0f}" for each in runs),
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


if __name__ == "__main__":
    main()
