"""Receivers that never respond, drip, send too much, redirect, or hang up."""

import re
from pathlib import Path

from tests.faults import rogues
from tests.faults.attempts import Attempt, first_attempt, told
from tests.faults.receiver import receiving
from tests.faults.rogues import Behaviour, Flood, rogue
from tests.faults.trial import Trial

KEPT = 16 * 1024
MAX_TAKEN = 16 * 2**20  # what the buffers of two sockets may hold
MAX_GROWTH = 64 * 2**20
METADATA = "http://169.254.169.254/latest/meta-data/"


def never_answers(trial: Trial) -> str:
    return cut_in_time(trial, rogues.silent)


def drips(trial: Trial) -> str:
    return cut_in_time(trial, rogues.dripping)


def cut_in_time(trial: Trial, behave: Behaviour) -> str:
    attempt = attempt_at(trial, behave)
    limit = trial.service.timeout
    assert attempt.error == f"No complete response within {limit:g} s."
    assert limit - 0.1 <= attempt.seconds < limit + trial.scale.late
    return f"cut after {attempt.seconds:.1f} s; {tried_again(trial, attempt)}"


def sends_a_gigabyte(trial: Trial) -> str:
    flood, before = Flood(), worker_memory(trial)
    attempt = attempt_at(trial, flood.behave)
    return kept_little(trial, attempt, before, flood.sent)


def sends_a_bomb(trial: Trial) -> str:
    before = worker_memory(trial)
    return kept_little(trial, attempt_at(trial, rogues.bombing), before)


def kept_little(trial: Trial, attempt: Attempt, before: int, taken: int = 0) -> str:
    growth = worker_memory(trial) - before
    assert (attempt.status, attempt.state, attempt.kept) == (200, "delivered", KEPT)
    assert taken < MAX_TAKEN
    assert growth < MAX_GROWTH
    off = f", {taken / 2**20:.1f} MiB left the receiver" if taken else ""
    return f"16 KiB kept{off}, the worker grew by {max(growth, 0) / 2**20:.1f} MiB"


def redirects(trial: Trial) -> str:
    """To a metadata address, and to a receiver that could be reached; then the address itself."""
    with receiving() as elsewhere:
        for location in (METADATA, elsewhere.url):
            attempt = attempt_at(trial, rogues.redirecting(location))
            assert (attempt.status, attempt.error) == (307, "")
            again = tried_again(trial, attempt)
        assert not elsewhere.posts
    direct = first_attempt(trial.service, told(trial.service, METADATA))
    assert direct.error == "169.254.169.254 is not a public address."
    return f"the 307 is the answer, nothing is followed; {again}"


def resets(trial: Trial) -> str:
    attempt = attempt_at(trial, rogues.resetting)
    assert "reset" in attempt.error.lower()
    return f"“{attempt.error}”; {tried_again(trial, attempt)}"


def attempt_at(trial: Trial, behave: Behaviour) -> Attempt:
    with rogue(behave) as url:
        return first_attempt(trial.service, told(trial.service, url))


def tried_again(trial: Trial, attempt: Attempt) -> str:
    """Holds that the schedule goes on: 5 s, a fifth more or less."""
    planned = 5 * trial.service.scale
    assert attempt.state == "waiting"
    assert 0.8 * planned <= attempt.wait <= 1.2 * planned
    return f"tried again {attempt.wait:.1f} s later"


def worker_memory(trial: Trial) -> int:
    """Resident bytes of the worker."""
    status = Path(f"/proc/{trial.service.pids('worker')[0]}/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found
    return int(found[1]) * 1024
