"""Whose delivery is next: properties of the fair queue (issue 3, Shows)."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhooks.fair_queue import AHEAD, RESERVE, FairQueue

ACCOUNTS = ("a", "b", "c", "d", "e", "f")
STEPS = st.lists(
    st.tuples(st.sampled_from(["claim", "take", "end"]), st.sampled_from(ACCOUNTS)), max_size=120
)


def fill(queue: FairQueue[str], account: str) -> int:
    """Claims for an account with endless deliveries until it may claim no more."""
    claimed = 0
    while True:
        limit, per_account, exceptions = queue.limits()
        count = min(limit, exceptions.get(account, per_account))
        if not count:
            return claimed
        for _ in range(count):
            queue.add(account, account, begin_by=claimed)
        claimed += count


def take_all(queue: FairQueue[str]) -> Counter[str]:
    taken: Counter[str] = Counter()
    while (account := queue.take()) is not None:
        taken[account] += 1
    return taken


@pytest.mark.parametrize(("threads", "share"), [(1, 1), (2, 1), (3, 1), (8, 4), (16, 8)])
def test_one_account_alone_has_half_of_the_threads(threads: int, share: int) -> None:
    queue: FairQueue[str] = FairQueue(threads)
    assert share <= fill(queue, "a") <= AHEAD * threads / 2 + 1
    assert take_all(queue) == {"a": share}


def test_whoever_comes_later_finds_claims_and_a_thread() -> None:
    """Even after two accounts have taken all that they may."""
    queue: FairQueue[str] = FairQueue(16)
    for account in ("a", "b"):
        fill(queue, account)
        take_all(queue)
    assert queue.free == RESERVE
    assert fill(queue, "c") >= 3
    assert take_all(queue) == {"c": 1}


def test_several_accounts_share_all_threads_but_the_reserve() -> None:
    queue: FairQueue[str] = FairQueue(16)
    for account in "abcd" * 6:
        queue.add(account, account, begin_by=0)
    taken = take_all(queue)
    assert taken == {"a": 4, "b": 4, "c": 4, "d": 4}


@given(STEPS, st.integers(1, 9))
def test_bounds_hold_whatever_happens(steps: list[tuple[str, str]], threads: int) -> None:
    queue: FairQueue[str] = FairQueue(threads)
    under_way: Counter[str] = Counter()
    for step, account in steps:
        if step == "claim":
            fill(queue, account)
        elif step == "take":
            taken = queue.take()
            if taken is not None:
                under_way[taken] += 1
        elif under_way[account]:
            queue.done(account)
            under_way[account] -= 1
        assert queue.held.total() <= AHEAD * threads + len(ACCOUNTS)
        assert max(under_way.values(), default=0) <= queue.share
        assert queue.free == threads + RESERVE - under_way.total() >= 0
        if sum(n > 0 for n in under_way.values()) == 1:
            assert queue.free >= RESERVE + threads // 2


def test_the_oldest_claim_of_an_account_comes_first_and_turns_are_fair() -> None:
    queue: FairQueue[int] = FairQueue(8)
    for number in range(3):
        queue.add("a", number, begin_by=number)
    queue.add("b", 10, begin_by=10)
    assert queue.waiting == 4
    assert [queue.take() for _ in range(5)] == [0, 10, 1, 2, None]


def test_hosts_in_doubt_share_half_of_the_threads_and_never_the_reserve() -> None:
    queue: FairQueue[str] = FairQueue(8)
    for account in "abcdef" * 3:
        queue.add(account, account, begin_by=0, in_doubt=True)
    assert take_all(queue) == {"a": 1, "b": 1, "c": 1, "d": 1}
    for number, account in enumerate("ghijk"):
        queue.add(account, account, begin_by=1 + number)
    assert take_all(queue) == {"g": 1, "h": 1, "i": 1, "j": 1, "k": 1}
    assert queue.free == 0
    queue.done("a", in_doubt=True)
    assert queue.take() is None  # that is the reserve
    queue.done("k")
    assert queue.take() == "a"


def test_what_waits_too_long_is_taken_out() -> None:
    queue: FairQueue[int] = FairQueue(2)
    for number in range(4):
        queue.add("ab"[number % 2], number, begin_by=number)
    assert sorted(queue.take_late(2)) == [0, 1]
    assert queue.held == {"a": 1, "b": 1}
    assert sorted(queue.take_late()) == [2, 3]
    assert not queue.held
