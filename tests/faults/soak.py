"""`make soak`: twenty minutes of mixed load beside all maintenance; nothing may grow meanwhile.

People and programs work as in the storm, but nothing is killed. What has ended is made five days
old, so that pruning removes as much as the programs create. Every minute the maintenance runs that
beat starts every ten, and a backup. Writes its section of docs/reliability.md if nothing has grown.
"""

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from tests.faults.page import PAGE, SOAK, rewrite
from tests.faults.receiver import receiving
from tests.faults.service import PEOPLE, Service
from tests.faults.witnesses import Asker, Ground, Reader, Reviewer, Witness
from tests.measured import committed, machine, moment
from tests.processes.stack import ROOT

EVERY = 60.0  # seconds between two looks
AGED = 20.0  # seconds after which what has ended is made old
BETWEEN = 0.2  # seconds between the questions of an asker
NEWEST = 50  # requests that clients look at from then on
OWN = ("Pss_Anon:", "Pss_Shmem:")  # of smaps_rollup
KINDS = ("web", "worker", "beat", "postgres", "redis")
MAY_GROW = 1.1  # from the second quarter of the time to the last
SMALL = 4.0  # MB, below which a table may grow
SHOWN = 6  # tables
MAINTENANCE = """
import time
from accounts import tasks as accounts
from reviews import tasks as reviews
from reviews.notifications import tasks as notifications
from webhooks import tasks as webhooks
reviews.prune_requests(); webhooks.prune_deliveries(); accounts.prune_logs()
accounts.forget_sessions(); accounts.forget_responses(); accounts.forget_codes()
webhooks.forget_events()
notifications.forget_old()
"""
# As if five days had passed since: requests stay for four, and events of streams for three.
AGE = """
UPDATE reviews_request SET updated_at = updated_at - interval '5 days',
       timeout_at = timeout_at - interval '5 days', response_at = response_at - interval '5 days'
 WHERE status IN ('completed', 'timeout', 'cancelled')
   AND updated_at BETWEEN now() - interval '1 day' AND now() - make_interval(secs => %(aged)s)
"""
AGE_EVENTS = """
UPDATE webhooks_loggedevent SET created_at = created_at - interval '5 days'
 WHERE created_at BETWEEN now() - interval '1 day' AND now() - make_interval(secs => %(aged)s)
"""
SIZES = """
SELECT relname, pg_total_relation_size(relid) / 1048576.0, n_live_tup FROM pg_stat_user_tables
"""
CONNECTIONS = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"


@dataclass(frozen=True)
class Look:
    """A moment: seconds since the start, MB of each kind of process, connections, MB of each table,
    and how many requests there are and were."""

    at: float
    memory: Mapping[str, float]
    connections: int
    tables: Mapping[str, float]
    requests: int
    created: int


class SteadyAsker(Asker):
    """Asks at the same pace however fast the service is, so that tables may stay as they are."""

    def run(self) -> None:
        due = time.monotonic()
        while not self.ground.over.wait(max(0.0, due - time.monotonic())):
            self.step()
            due += BETWEEN


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20.0)
    options = parser.parse_args()
    commit = committed(ROOT, PAGE)
    with tempfile.TemporaryDirectory(prefix="review-loop-soak-") as folder:
        looks = soak(Path(folder), options.minutes * 60)
    lines, found = report(looks, commit), growths(looks)
    print("\n".join([*lines, *found]))
    if found:
        sys.exit(1)
    rewrite(lines)


def soak(folder: Path, seconds: float) -> list[Look]:
    """Lets everybody work, and looks every minute. Raises what a client did not expect."""
    service = Service(folder / "service", KEEP_REQUESTS_DAYS="4", KEEP_USAGE_DAYS="31")
    looks: list[Look] = []
    try:
        service.start()
        with receiving() as receiver:
            ground = Ground(service, receiver.url, seed=1, hurry=3.0)
            people: list[Witness] = [SteadyAsker(ground, f"asker {n}") for n in (1, 2)]
            people += [Reader(ground, f"reader {n}") for n in (1, 2)]
            people += [Reviewer(ground, name) for name in PEOPLE]
            threads = [threading.Thread(target=each.run, daemon=True) for each in people]
            begun = time.monotonic()
            for each in threads:
                each.start()
            try:
                while (passed := time.monotonic() - begun) < seconds:
                    looks.append(look(service, passed, ground))
                    print(looks[-1], flush=True)
                    maintain(service, folder, ground)
                    receiver.posts.clear()
                    ground.over.wait(max(0.0, EVERY - (time.monotonic() - begun - passed)))
                assert all(each.is_alive() for each in threads), (
                    "a client met what it did not expect"
                )
            finally:
                ground.over.set()
                for each in threads:
                    each.join(60)
    finally:
        service.discard()
    return looks


def maintain(service: Service, folder: Path, ground: Ground) -> None:
    """What beat starts every ten minutes, and a backup."""
    ground.asked[:] = ground.asked[-NEWEST:]  # the others are going
    service.rows(AGE, aged=AGED)
    service.rows(AGE_EVENTS, aged=AGED)
    service.stack.manage("shell", "-v", "0", "-c", MAINTENANCE)
    service.stack.manage("backup", str(folder / "backup"))
    (folder / "backup").unlink()
    for record in (ground.calls, ground.listings, ground.charges):
        record.clear()


def look(service: Service, at: float, ground: Ground) -> Look:
    rows = service.rows(SIZES)
    ((requests, created),) = service.rows(
        "SELECT count(*), (SELECT n_tup_ins FROM pg_stat_user_tables"
        " WHERE relname = 'reviews_request') FROM reviews_request"
    )
    ((connections,),) = service.rows(CONNECTIONS)
    return Look(
        at=at,
        memory={kind: memory_of(service, kind) for kind in KINDS},
        connections=connections,
        tables={name: float(size) for name, size, _ in rows},
        requests=requests,
        created=created,
    )


def memory_of(service: Service, kind: str) -> float:
    """MB of all processes of a kind; those of PostgreSQL change their names."""
    if kind != "postgres":
        return sum(map(private_memory, service.pids(kind)))
    found = service.stack.processes().items()
    return sum(private_memory(pid) for pid, command in found if "postgres" in command.split(" ")[0])


def private_memory(pid: int) -> float:
    """MB of this process alone, and its part of what it shares, but for files: what it has of them
    depends on who else has mapped them."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0  # it has ended
    return sum(int(line.split()[1]) for line in lines if line.startswith(OWN)) / 1024


def quarters(looks: list[Look]) -> tuple[list[Look], list[Look]]:
    """The second quarter of the time, and the last."""
    quarter = max(1, len(looks) // 4)
    return looks[quarter : 2 * quarter] or looks, looks[-quarter:]


def growths(looks: list[Look]) -> list[str]:
    """What has grown from the second quarter to the last, in a line each."""
    early, late = quarters(looks)
    found = []
    for kind in KINDS:
        found += grown(kind, [e.memory[kind] for e in early], [e.memory[kind] for e in late])
    found += grown("connections", [e.connections for e in early], [e.connections for e in late])
    for name in late[-1].tables:
        sizes = [each.tables[name] for each in late]
        if max(sizes) > SMALL:
            found += grown(name, [each.tables[name] for each in early], sizes)
    return found


def grown(name: str, early: list[float], late: list[float]) -> list[str]:
    is_so = mean(late) > mean(early) * MAY_GROW
    return [f"{name} grew from {mean(early):.1f} to {mean(late):.1f}"] if is_so else []


def report(looks: list[Look], commit: str) -> list[str]:
    """The section of docs/reliability.md."""
    return [
        SOAK,
        "",
        f"{moment()}, of commit {commit}, {machine()}.",
        "",
        f"`make soak`: two askers ask {60 / BETWEEN:.0f} times a minute each, with webhooks; two",
        f"readers and two reviewers work without a pause. What ended {AGED:.0f} s ago is made five",
        "days old, and each minute all of the maintenance and a backup run, so pruning removes as",
        "much as is created. The run fails if",
        "the memory of a kind of process, the connections or a table of more than",
        f"{SMALL:.0f} MB grew by more than a tenth from the second quarter to the last.",
        "",
        *table(looks),
        "",
        *largest(looks),
        "",
    ]


def largest(looks: list[Look]) -> list[str]:
    """A table of the largest tables: MB on average in the second quarter and in the last."""
    early, late = quarters(looks)
    lines = ["| table | second quarter, MB | last quarter, MB |", "|---|---|---|"]
    names = sorted(late[-1].tables, key=late[-1].tables.__getitem__, reverse=True)[:SHOWN]
    for name in names:
        sizes = [mean(each.tables[name] for each in part) for part in (early, late)]
        lines.append(f"| `{name}` | {sizes[0]:.1f} | {sizes[1]:.1f} |")
    return lines


def table(looks: list[Look]) -> list[str]:
    head = ["minute", *(f"{kind}, MB" for kind in KINDS), "connections", "tables, MB", "requests"]
    lines = [f"| {' | '.join([*head, 'created'])} |", "|" + "---|" * (len(head) + 1)]
    for each in looks:
        cells = [f"{each.at / 60:.0f}", *(f"{each.memory[kind]:.0f}" for kind in KINDS)]
        cells += [str(each.connections), f"{sum(each.tables.values()):.1f}"]
        lines.append(f"| {' | '.join([*cells, f'{each.requests:,}', f'{each.created:,}'])} |")
    return lines


if __name__ == "__main__":
    main()
