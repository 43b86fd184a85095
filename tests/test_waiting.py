"""How long the tests wait: longer on a crowded machine, and never less than they say."""

import os

import hypothesis
import pytest

from tests.waiting import stretched, wait_until


@pytest.mark.parametrize(
    ("load", "seconds", "patience"),
    [(0.1, 10, 10), (2, 10, 10), (6, 10, 30), (99, 10, 60), (99, 15, 60), (99, 90, 90)],
)
def test_the_load_of_each_core_counts(
    monkeypatch: pytest.MonkeyPatch, load: float, seconds: float, patience: float
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0, 0))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert stretched(seconds) == patience


def test_a_condition_that_never_comes_fails() -> None:
    with pytest.raises(AssertionError, match="not so after"):
        wait_until(lambda: False, 0.01)


def test_no_generated_example_is_timed() -> None:
    found = hypothesis.settings()
    assert found.deadline is None
    assert hypothesis.HealthCheck.too_slow in found.suppress_health_check
