"""`make chaos`: every fault and a storm with the real waits; rewrites docs/reliability.md."""

import argparse
import datetime
import os
import platform
import sys
import tempfile
import time
from pathlib import Path

from tests.faults.catalogue import FAULTS
from tests.faults.service import Service
from tests.faults.storm import Aftermath, Storm, weather
from tests.faults.trial import REAL, trial
from tests.processes.stack import ROOT

PAGE = ROOT / "docs" / "reliability.md"
INTRODUCTION = """\
# Reliability

`make chaos` wrote this page. It starts the whole service as `make run` does, with the settings
that everybody gets (a webhook lease of 60 s, attempts of at most 15 s), lets each fault befall
it, and then kills processes at random under clients at work. It takes about ten minutes and
rewrites this page only when everything has passed. `make test` holds the same in a short form,
with leases and outages shortened by settings; the code is in `tests/faults/`.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=90.0, help="how long the storm lasts")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="what picks the kills")
    options = parser.parse_args()
    storm = Storm(seconds=options.seconds, pause=(1.0, 4.0), seed=options.seed, hurry=3.0)
    with tempfile.TemporaryDirectory(prefix="review-loop-chaos-") as folder:
        measured = befall(Path(folder))
        aftermath = endure(Path(folder), storm)
        say(f"the storm (seed {storm.seed}): {aftermath.kills}, {aftermath.history.counts()}")
        if faults := aftermath.history.faults():
            kept = Path(tempfile.gettempdir()) / f"review-loop-history-{storm.seed}.jsonl"
            aftermath.history.save(kept)
            sys.exit("\n".join([*faults, f"The history is in {kept}"]))
    PAGE.write_text("\n".join([INTRODUCTION, *table(measured), *report(storm, aftermath)]))
    say(f"wrote {PAGE.relative_to(ROOT)}")


def befall(folder: Path) -> list[tuple[str, str, str]]:
    """Each fault in turn: its name, its pass condition, and what was measured."""
    measured = []
    with trial(folder / "faults", REAL) as under_trial:
        for fault in FAULTS:
            result = fault.befall(under_trial)
            say(f"{fault.name}: {result}")
            measured.append((fault.name, fault.condition, result))
    return measured


def endure(folder: Path, storm: Storm) -> Aftermath:
    service = Service(folder / "storm")
    try:
        return weather(service.start(), storm)
    finally:
        service.discard()


def table(measured: list[tuple[str, str, str]]) -> list[str]:
    lines = ["## Faults", "", f"{moment()}, {machine()}.", ""]
    lines += ["| Fault | Passes when | Measured |", "|---|---|---|"]
    return [*lines, *(f"| {' | '.join(row)} |" for row in measured), ""]


def report(storm: Storm, aftermath: Aftermath) -> list[str]:
    kills = ", ".join(f"{name} {times} times" for name, times in aftermath.kills.items())
    counts = aftermath.history.counts().items()
    return [
        "## A storm, and its history",
        "",
        f"For {storm.seconds:.0f} s two askers, two readers and two reviewers worked while",
        f"processes were killed with -9 or restarted at random: {kills} (seed {storm.seed}).",
        f"Three requests in ten had their deadline {storm.hurry:.0f} s after they were asked, and",
        "answers, claims, cancellations, sweeps, lists and pages raced for it.",
        "Every call and its outcome was written down. Afterwards all of this held:",
        "",
        "- every acknowledged request exists, and every acknowledged answer or cancellation is",
        "  what is stored;",
        "- whoever saw the end of a request (a read, a list, a filter, a page, the table, a",
        "  receiver) saw the same one;",
        "- nothing was pending to a reader once it had been final, nor after its deadline, but for",
        "  what an answer or a cancellation that began in time held still;",
        "- every total of a list by status counted what was known to have ended so, and nothing",
        "  that cannot have;",
        "- each end and each claim has one event, received with one id and one body.",
        "",
        "| What | How often |",
        "|---|---|",
        *(f"| {name} | {number} |" for name, number in counts),
        "",
        "“unknown” is a call without an answer, or with a 5xx: it may have happened or not. A",
        "claim's page says only afterwards what has become of it, so claims count as unknown.",
        "",
        f"To repeat it: `make chaos`, or `python -m tests.faults.chaos --seed {storm.seed}` in the",
        "virtual environment. The seed picks what is killed and when; what that meets is chance.",
        "",
    ]


def moment() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%d %B %Y, %H:%M UTC").lstrip("0")


def machine() -> str:
    cores = os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    system = f"{platform.system()} {platform.machine()}"
    return f"{system} with {cores} cores and {memory:.0f} GiB, Python {platform.python_version()}"


def say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    main()
