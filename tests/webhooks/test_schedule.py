"""The retry schedule and Retry-After, by their properties (docs/webhooks.md)."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from outbox.schedule import longest, next_delay, read_retry_after
from webhooks.channel import DELAYS

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = 86_400.0
# written out here too: a change of the contract fails
PLANNED = [
    5, 30, 2 * 60, 10 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600
]  # fmt: skip
FAILURES = st.integers(1, 11)
CHANCES = st.floats(0, 1, exclude_max=True)


def test_twelve_attempts_and_no_more() -> None:
    delays = [next_delay(DELAYS, failed_attempts=count, chance=0.5) for count in range(1, 14)]
    assert delays[:11] == pytest.approx(PLANNED)
    assert delays[11:] == [None, None]


@given(FAILURES, CHANCES)
def test_a_wait_is_within_a_fifth_of_the_plan(failed: int, chance: float) -> None:
    delay = next_delay(DELAYS, failed_attempts=failed, chance=chance)
    assert delay is not None
    assert 0.8 * PLANNED[failed - 1] <= delay <= 1.2 * PLANNED[failed - 1]


@given(FAILURES, CHANCES, st.floats(0, 1e12))
def test_retry_after_lengthens_the_wait_up_to_a_day(
    failed: int, chance: float, asked: float
) -> None:
    planned = next_delay(DELAYS, failed_attempts=failed, chance=chance)
    delay = next_delay(DELAYS, failed_attempts=failed, chance=chance, retry_after=asked)
    assert planned is not None
    assert delay == max(planned, min(asked, DAY))


@given(st.floats(0, 1e12), CHANCES)
def test_no_retry_after_revives_a_dead_delivery(asked: float, chance: float) -> None:
    assert next_delay(DELAYS, failed_attempts=12, chance=chance, retry_after=asked) is None


@given(FAILURES, CHANCES, st.floats(0.001, 1))
def test_the_scale_shortens_the_plan_alone(failed: int, chance: float, scale: float) -> None:
    delay = next_delay(DELAYS, failed_attempts=failed, chance=chance)
    scaled = next_delay(DELAYS, failed_attempts=failed, chance=chance, scale=scale)
    assert delay is not None
    assert scaled == pytest.approx(delay * scale)
    assert next_delay(DELAYS, failed_attempts=1, chance=chance, retry_after=60, scale=0.001) == 60


@given(st.integers(0, 10**30))
def test_seconds_are_read(seconds: int) -> None:
    assert read_retry_after(f" {seconds} ", now=NOW) == min(seconds, DAY)


@pytest.mark.parametrize(
    "header",
    [
        "Sun, 01 Mar 2026 12:01:00 GMT",
        "Sunday, 01-Mar-26 12:01:00 GMT",
        "Sun Mar  1 12:01:00 2026",
        "Sun, 01 Mar 2026 12:01:00 -0000",
        "Sun, 01 Mar 2026 14:01:00 +0200",
    ],
)
def test_every_form_of_a_date_is_read(header: str) -> None:
    """The three of RFC 9110, 5.6.7, and two that mail has."""
    assert read_retry_after(header, now=NOW) == 60


def test_the_whole_schedule_at_its_longest() -> None:
    assert longest(DELAYS) == pytest.approx(1.2 * sum(PLANNED))
    assert longest(DELAYS, scale=0.1) == pytest.approx(0.12 * sum(PLANNED))


@given(st.integers(-(10**7), 10**7))
def test_dates_are_read(seconds: int) -> None:
    header = format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)
    assert read_retry_after(header, now=NOW) == max(0, seconds)


@pytest.mark.parametrize(
    "header",
    [None, "", "soon", "-5", "1.5", "5 s", "٣", "²", "Sun, 99 Mar 2026 12:00:00 GMT", "1e9", "NaN"],
)
def test_nonsense_asks_for_nothing(header: str | None) -> None:
    assert read_retry_after(header, now=NOW) is None


@given(st.text(max_size=60))
@example("Sun, 01 Mar 2026 12:00:00 +99999999999999999999")
@example("Sun, 01 Mar 99999 12:00:00 GMT")
@example("Sun, 01 Mar 0000 12:00:00 GMT")
@example("01 Jan 0001 00:00:00 +2359")
@example("31 Dec 9999 23:59:59 -2359")
@example("Sun, 01 Mar 2026 12:00:00 -0000")
@example("0" * 5000 + "7")
def test_whatever_a_receiver_sends_is_no_error(header: str) -> None:
    asked = read_retry_after(header, now=NOW)
    assert asked is None or asked >= 0
