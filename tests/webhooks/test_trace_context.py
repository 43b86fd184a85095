"""`traceparent`, as https://www.w3.org/TR/trace-context/ has it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhooks.trace_context import LENGTH, continue_trace, read_traceparent

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
VALID = f"00-{TRACE}-{PARENT}-01"


@pytest.mark.parametrize(
    ("header", "read"),
    [
        (VALID, VALID),
        (f" {VALID}\t", VALID),
        (f"00-{TRACE}-{PARENT}-00", f"00-{TRACE}-{PARENT}-00"),
        (f"00-{TRACE}-{PARENT}-ff", f"00-{TRACE}-{PARENT}-03"),  # flags that 00 does not have
        (f"cc-{TRACE}-{PARENT}-01", VALID),  # a version that nobody knows yet
        (f"cc-{TRACE}-{PARENT}-01-what-the-future-will-be-like", VALID),
    ],
)
def test_what_is_valid(header: str, read: str) -> None:
    assert read_traceparent(header) == read


@pytest.mark.parametrize(
    "header",
    [
        "",
        "nonsense",
        None,
        7,
        VALID.upper(),
        f"{VALID},{VALID}",  # two headers
        f"{VALID}-more",
        f"{VALID}\n",
        f"cc-{TRACE}-{PARENT}-01.more",
        f"ff-{TRACE}-{PARENT}-01",
        f"00-{'0' * 32}-{PARENT}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE[1:]}-{PARENT}-01",
        f"00-{TRACE}-{PARENT}-1",
        VALID.replace("4", "٤"),
    ],
)
def test_what_is_not(header: object) -> None:
    assert read_traceparent(header) is None


@given(st.text(alphabet="0123456789abcdef-", max_size=60) | st.from_regex(r"[0-9a-f]{2}-.*"))
def test_whatever_is_read_can_be_stored_and_read_again(header: str) -> None:
    read = read_traceparent(header)
    if read is not None:
        assert len(read) == LENGTH
        assert read_traceparent(read) == read


@given(st.integers(1, 2**128 - 1), st.integers(1, 2**64 - 1), st.integers(0, 255))
def test_a_trace_goes_on_with_another_parent(trace: int, parent: int, flags: int) -> None:
    read = read_traceparent(f"00-{trace:032x}-{parent:016x}-{flags:02x}")
    assert read is not None
    next_one = continue_trace(read)
    assert read_traceparent(next_one) == next_one
    assert next_one != continue_trace(read)
    assert next_one.split("-")[2] != f"{parent:016x}"
    assert [next_one.split("-")[n] for n in (0, 1, 3)] == [read.split("-")[n] for n in (0, 1, 3)]
