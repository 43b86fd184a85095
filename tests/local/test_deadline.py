"""How long a start waits, and what it says."""

import pytest

from local import CannotStart, Interrupted, deadline
from local.deadline import REPORT_SECONDS, START_WITHIN, StartDeadline


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(deadline, "time", made)
    return made


def test_it_speaks_every_few_seconds_and_ends(clock: Clock) -> None:
    said: list[str] = []
    check = StartDeadline(lambda: None, said.append).waiting_for("redis")
    for second in range(int(START_WITHIN) + 1):
        clock.now = float(second)
        check()
    assert said[0] == "Starting for 5 s, waiting for redis"
    assert len(said) == START_WITHIN / REPORT_SECONDS
    clock.now = START_WITHIN + 0.1
    with pytest.raises(CannotStart, match="Not ready after 300 s, still waiting for redis"):
        check()


def test_a_signal_goes_through() -> None:
    def check() -> None:
        raise Interrupted

    with pytest.raises(Interrupted):
        StartDeadline(check, print).wait_for("anything")
