"""Measures the memory of a web process over 100,000 calls."""

import re
from pathlib import Path

from bench import api
from bench.cast import Cast
from bench.outcome import Goal, Part, table
from bench.serving import Load, Web

WARM_UP, CALLS, STEP = 10_000, 100_000, 25_000


def measure(web: Web, cast: Cast, load: Load) -> Part:
    """Sends nine polls for each create, and a list now and then, to one process."""
    calls = api.calls(cast)
    polls, creates, lists = calls["poll"], calls["create"], calls["list"]
    mixed = [
        request
        for number in range(len(polls) // 9)
        for request in (*polls[number * 9 : number * 9 + 9], creates[number % len(creates)])
    ]
    mixed[::50] = lists[: len(mixed[::50])]
    (worker,) = web.workers()
    done, seen = WARM_UP, []
    load.fire(web.port, mixed, seconds=600, calls=WARM_UP)
    seen.append((done, megabytes(worker)))
    while done < CALLS:
        load.fire(web.port, mixed, seconds=600, calls=STEP)
        done += STEP
        seen.append((done, megabytes(worker)))
    rows = [[f"{calls:,}", f"{size:.1f} MB"] for calls, size in seen]
    growth = max(abs(size / seen[0][1] - 1) for _, size in seen) * 100
    return Part(
        {"memory": table(["calls", "resident"], rows)},
        [Goal("memory of a web process, 100,000 calls", 5, None, growth, " %", at_most=True)],
    )


def megabytes(pid: int) -> float:
    """The resident memory of a process."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) / 1024
