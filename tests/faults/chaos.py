"""`make chaos`: runs every fault and a storm with real waits, and rewrites docs/reliability.md."""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.faults.catalogue import FAULTS
from tests.faults.page import FAILOVERS, PAGE, SOAK, STORM, read_parts
from tests.faults.service import Service
from tests.faults.storm import Aftermath, Storm, weather
from tests.faults.trial import REAL, NotTried, trial
from tests.measured import committed, machine, moment, say
from tests.processes.stack import ROOT

INTRODUCTION = """\
# Reliability

`make chaos` wrote this page. It starts the whole service as `make run` does, with the default
settings (a webhook lease of 60 s, attempts of at most 15 s). It causes one fault after another, and
then kills processes at random while clients are working. This takes about fifteen minutes, and
rewrites this page only if everything has passed: each row's condition is asserted by its code in
`tests/faults/`, and so is each sentence about the storm. It runs only on committed code, and names
the commit. `make test` checks the same in a short form, with shorter leases and outages. The
section about a cluster is of `python -m tests.faults.failover_page`, and the one about twenty
minutes of `make soak`.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=90.0, help="how long the storm lasts")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="what picks the kills")
    options = parser.parse_args()
    commit = committed(ROOT, PAGE)
    storm = Storm(seconds=options.seconds, pause=(1.0, 4.0), seed=options.seed, hurry=3.0)
    with tempfile.TemporaryDirectory(prefix="review-loop-chaos-") as folder:
        measured = befall(Path(folder))
        aftermath = endure(Path(folder), storm)
        say(f"the storm (seed {storm.seed}): {aftermath.kills}, {aftermath.history.counts()}")
        if faults := aftermath.history.faults():
            kept = Path(tempfile.gettempdir()) / f"review-loop-history-{storm.seed}.jsonl"
            aftermath.history.save(kept)
            sys.exit("\n".join([*faults, f"The history is in {kept}"]))
    others = "".join(each for each in read_parts() if each.startswith((FAILOVERS, SOAK)))
    before = "\n".join([INTRODUCTION, *table(measured, commit), ""])
    after = "\n".join(report(storm, aftermath))
    PAGE.write_text(f"{before}{others}{after}", encoding="utf-8")
    say(f"wrote {PAGE.relative_to(ROOT)}")


def befall(folder: Path) -> list[tuple[str, str, str]]:
    """Each fault in turn: its name, its pass condition, and what was measured."""
    measured = []
    with trial(folder / "faults", REAL) as under_trial:
        for fault in FAULTS:
            under_trial.service.await_ready()
            try:
                result = fault.befall(under_trial)
            except NotTried as reason:
                result = f"not tried: {reason}"
            say(f"{fault.name}: {result}")
            measured.append((fault.name, fault.condition, result))
    return measured


def endure(folder: Path, storm: Storm) -> Aftermath:
    service = Service(folder / "storm")
    try:
        return weather(service.start(), storm)
    finally:
        service.discard()


def table(measured: list[tuple[str, str, str]], commit: str) -> list[str]:
    lines = ["## Faults", "", f"{moment()}, of commit {commit}, {machine()}.", ""]
    lines += ["| Fault | Passes when | Measured |", "|---|---|---|"]
    return [*lines, *(f"| {' | '.join(row)} |" for row in measured), ""]


def report(storm: Storm, aftermath: Aftermath) -> list[str]:
    kills = ", ".join(f"{name} {times} times" for name, times in aftermath.kills.items())
    counts = aftermath.history.counts().items()
    return [
        STORM,
        "",
        f"For {storm.seconds:.0f} s two askers, two readers and two reviewers worked while",
        f"processes were killed with -9 or restarted at random: {kills} (seed {storm.seed}).",
        f"Three requests in ten had their deadline {storm.hurry:.0f} s after their creation, and",
        "answers, claims, cancellations, sweeps, lists and pages raced to it.",
        "Every call and its outcome was recorded. Afterwards all of this was true:",
        "",
        "- every acknowledged request exists, and every acknowledged answer or cancellation is",
        "  stored;",
        "- every reader of a request's end (a read, a list, a filter, a page, the table, a",
        "  receiver) saw the same end;",
        "- no reader saw a request as pending after it had ended, or after its deadline, except",
        "  while an answer or a cancellation that began in time still held it;",
        "- every total of a list by status counted all requests known to have that status, and",
        "  none that cannot have it;",
        "- every list by status showed only that status, nothing twice, and, on its first page,",
        "  every request known to have it, back to the oldest that it showed;",
        "- the quota counted every answered call once, except calls in the two seconds before",
        "  PostgreSQL was killed, and credited every cancelled request once;",
        "- each end and each claim has one event, received with one id and one body.",
        "",
        "| What | How often |",
        "|---|---|",
        *(f"| {name} | {number} |" for name, number in counts),
        "",
        "“unknown” is a call without a response, or with a 5xx: it may or may not have happened. A",
        "claim's page shows its result only later, so claims count as unknown.",
        "",
        "Readers look at the newest requests and lists, and as often at any other.",
        "",
        "To repeat it: `make chaos`, or, in the virtual environment,",
        f"`python -m tests.faults.chaos --seconds {storm.seconds:.0f} --seed {storm.seed}`.",
        "The seed decides what is killed and when; the rest is chance.",
        "",
    ]


if __name__ == "__main__":
    main()
