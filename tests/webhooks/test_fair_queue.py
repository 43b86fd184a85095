"""Whose delivery is next: properties of the threads' turns (issue 3, Shows)."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhooks.fair_queue import AHEAD, RESERVE, Turns

ACCOUNTS = ("a", "b", "c", "d", "e", "f")
STEPS = st.lists(
    st.tuples(st.sampled_from(["claim", "take", "end"]), st.sampled_from(ACCOUNTS)), max_size=120
)


def fill(turns: Turns[str], account: str) -> int:
    """Claims for an account with endless deliveries until it may claim no more."""
    claimed = 0
    while True:
        most, each, fewer = turns.bounds()
        count = min(most, fewer.get(account, each))
        if not count:
            return claimed
        for _ in range(count):
            turns.add(account, account, begin_by=claimed)
        claimed += count


def take_all(turns: Turns[str]) -> Counter[str]:
    taken: Counter[str] = Counter()
    while (account := turns.take()) is not None:
        taken[account] += 1
    return taken


@pytest.mark.parametrize(("threads", "share"), [(1, 1), (2, 1), (3, 1), (8, 4), (16, 8)])
def test_one_account_alone_has_half_of_the_threads(threads: int, share: int) -> None:
    turns: Turns[str] = Turns(threads)
    assert share <= fill(turns, "a") <= AHEAD * threads / 2 + 1
    assert take_all(turns) == {"a": share}


def test_whoever_comes_later_finds_claims_and_a_thread() -> None:
    """Even after two accounts have taken all that they may."""
    turns: Turns[str] = Turns(16)
    for account in ("a", "b"):
        fill(turns, account)
        take_all(turns)
    assert turns.free == RESERVE
    assert fill(turns, "c") >= 3
    assert take_all(turns) == {"c": 1}


def test_several_accounts_share_all_threads_but_the_reserve() -> None:
    turns: Turns[str] = Turns(16)
    for account in "abcd" * 6:
        turns.add(account, account, begin_by=0)
    taken = take_all(turns)
    assert taken == {"a": 4, "b": 4, "c": 4, "d": 4}


@given(STEPS, st.integers(1, 9))
def test_bounds_hold_whatever_happens(steps: list[tuple[str, str]], threads: int) -> None:
    turns: Turns[str] = Turns(threads)
    under_way: Counter[str] = Counter()
    for step, account in steps:
        if step == "claim":
            fill(turns, account)
        elif step == "take":
            taken = turns.take()
            if taken is not None:
                under_way[taken] += 1
        elif under_way[account]:
            turns.done(account)
            under_way[account] -= 1
        assert turns.held.total() <= AHEAD * threads + len(ACCOUNTS)
        assert max(under_way.values(), default=0) <= turns.share
        assert turns.free == threads + RESERVE - under_way.total() >= 0
        if sum(n > 0 for n in under_way.values()) == 1:
            assert turns.free >= RESERVE + threads // 2


def test_the_oldest_claim_of_an_account_comes_first_and_turns_are_fair() -> None:
    turns: Turns[int] = Turns(8)
    for number in range(3):
        turns.add("a", number, begin_by=number)
    turns.add("b", 10, begin_by=10)
    assert turns.waiting == 4
    assert [turns.take() for _ in range(5)] == [0, 10, 1, 2, None]


def test_hosts_in_doubt_share_half_of_the_threads_and_never_the_reserve() -> None:
    turns: Turns[str] = Turns(8)
    for account in "abcdef" * 3:
        turns.add(account, account, begin_by=0, in_doubt=True)
    assert take_all(turns) == {"a": 1, "b": 1, "c": 1, "d": 1}
    for number, account in enumerate("ghijk"):
        turns.add(account, account, begin_by=1 + number)
    assert take_all(turns) == {"g": 1, "h": 1, "i": 1, "j": 1, "k": 1}
    assert turns.free == 0
    turns.done("a", in_doubt=True)
    assert turns.take() is None  # that is the reserve
    turns.done("k")
    assert turns.take() == "a"


def test_what_waits_too_long_is_taken_out() -> None:
    turns: Turns[int] = Turns(2)
    for number in range(4):
        turns.add("ab"[number % 2], number, begin_by=number)
    assert sorted(turns.late(2)) == [0, 1]
    assert turns.held == {"a": 1, "b": 1}
    assert sorted(turns.late()) == [2, 3]
    assert not turns.held
