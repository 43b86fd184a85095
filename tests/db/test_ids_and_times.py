"""Identifiers and times, by properties."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from db.ids import new_id, normalize_id
from db.times import iso, next_hour, seconds_between

MOMENTS = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))


def test_ids_are_24_hexadecimal_characters_and_never_the_same() -> None:
    ids = [new_id() for _ in range(1000)]
    assert len(set(ids)) == 1000
    assert all(normalize_id(one) == one for one in ids)
    assert [one[:12] for one in ids] == sorted(one[:12] for one in ids)


@given(st.text(max_size=30))
def test_only_24_hexadecimal_characters_are_an_id(text: str) -> None:
    expected = len(text) == 24 and all(c in "0123456789abcdefABCDEF" for c in text)
    assert (normalize_id(text) is not None) == expected


def test_uppercase_ids_are_answered_in_lowercase() -> None:
    assert normalize_id("ABCDEF0123456789ABCDEF01") == "abcdef0123456789abcdef01"
    for odd in ("abcdef0123456789abcdef01\n", "ABCDEF0123456789ABCDEF0K", ""):
        assert normalize_id(odd) is None


@given(MOMENTS)
def test_times_are_utc_with_milliseconds(moment: datetime) -> None:
    text = iso(moment)
    assert len(text) == 24
    assert text.endswith("Z")
    distance = moment - datetime.fromisoformat(text)
    assert timedelta() <= distance < timedelta(milliseconds=1)


@given(MOMENTS, st.timedeltas(timedelta(), timedelta(days=30)))
def test_distances_are_those_of_the_times_that_a_client_sees(
    start: datetime, length: timedelta
) -> None:
    seen = [datetime.fromisoformat(iso(moment)) for moment in (start, start + length)]
    assert seconds_between(start, start + length) == (seen[1] - seen[0]).total_seconds()


@given(st.floats(0, 4e9))
def test_the_hour_ends_at_its_top(now: float) -> None:
    assert next_hour(now) % 3600 == 0
    assert 0 < next_hour(now) - now <= 3600
