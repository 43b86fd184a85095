"""The rules by which several answers become one outcome: a list of cases, and a brute search."""

from collections.abc import Sequence
from decimal import Decimal
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviews.policy import Ballot, InvalidPolicy, Policy, Result, decide, parse, read

Y, N, M = Ballot("y"), Ballot("n"), Ballot("m")
VETO = Ballot("n", is_veto=True)


def number(text: str) -> Ballot:
    return Ballot(text, Decimal(text))


@pytest.mark.parametrize(
    ("rule", "answers", "ballots", "able", "result"),
    [
        ("first", 1, [], 1, None),
        ("first", 1, [Y], 0, Result("decided", 0)),
        ("first", 1, [], 0, Result("unreachable")),
        ("majority", 3, [Y], 4, None),
        ("majority", 3, [Y, Y], 1, Result("decided", 1)),
        ("majority", 3, [Y, N], 1, None),
        ("majority", 3, [Y, N, Y], 0, Result("decided", 2)),
        ("majority", 3, [Y, N, M], 5, Result("no_agreement")),
        ("majority", 2, [Y, N], 5, Result("no_agreement")),
        ("majority", 4, [Y, Y, N], 1, None),
        ("majority", 4, [Y, N, Y, N], 1, Result("no_agreement")),
        ("majority", 4, [Y, N, N, M], 1, Result("no_agreement")),
        ("majority", 5, [Y, N, M], 2, None),
        ("majority", 5, [Y, N, M], 1, Result("unreachable")),
        ("majority", 5, [], 2, Result("unreachable")),
        ("unanimous", 3, [Y, Y], 1, None),
        ("unanimous", 3, [Y, Y, Y], 0, Result("decided", 2)),
        ("unanimous", 3, [Y, N], 1, Result("no_agreement")),
        ("unanimous", 3, [Y, Y], 0, Result("unreachable")),
        ("median", 3, [number("1"), number("9")], 1, None),
        ("median", 3, [number("9"), number("1"), number("4")], 0, Result("decided", 2)),
        ("median", 4, [*map(number, "9152")], 0, Result("decided", 3)),
        ("median", 2, [number("1"), number("0.5")], 0, Result("decided", 1)),
        ("median", 3, [number("1")], 1, Result("unreachable")),
        ("majority", 3, [VETO], 4, Result("vetoed", 0)),
        ("unanimous", 3, [Y, VETO], 4, Result("vetoed", 1)),
    ],
)
def test_what_becomes_of_the_answers(
    rule: str, answers: int, ballots: list[Ballot], able: int, result: Result | None
) -> None:
    assert decide(Policy(rule, answers), ballots, able) == result


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        ({"rule": "most"}, "policy.rule must be one of: first, majority, unanimous, median"),
        ({"rule": ["first"]}, "policy.rule must be one of: first, majority, unanimous, median"),
        ({"rule": "majority"}, "policy.answers must be an integer between 2 and 15"),
        ({"rule": "majority", "answers": 1}, "policy.answers must be an integer between 2 and 15"),
        ({"rule": "median", "answers": 16}, "policy.answers must be an integer between 2 and 15"),
        ({"rule": "median", "answers": 2.0}, "policy.answers must be an integer between 2 and 15"),
        ({"rule": "median", "answers": True}, "policy.answers must be an integer between 2 and 15"),
        ({"answers": 2}, "policy.answers must be 1 for the rule first"),
        ({"answers": True}, "policy.answers must be 1 for the rule first"),
        ({"blind": "no"}, "policy.blind must be a boolean"),
        ({"exclude_creator": 1}, "policy.exclude_creator must be a boolean"),
        ({"veto": "no"}, "policy.veto must be an array of answers"),
        ({"veto": ["no"] * 51}, "policy.veto must have at most 50 entries"),
        ({"veto ": []}, "policy has an unknown field: veto "),
        ({"__class__": 1}, "policy has an unknown field: __class__"),
    ],
)
def test_what_is_no_policy(sent: dict[str, Any], error: str) -> None:
    with pytest.raises(InvalidPolicy) as refused:
        parse(sent)
    assert str(refused.value) == error


def test_it_is_stored_with_all_its_fields() -> None:
    policy = parse({"rule": "majority", "answers": 3, "veto": ["no"], "blind": None})
    stored = {
        "rule": "majority", "answers": 3, "blind": True, "exclude_creator": False, "veto": ["no"],
    }  # fmt: skip
    assert policy.store() == stored
    assert read(stored) == policy


@pytest.mark.parametrize(
    "sent", [{}, {"rule": "first"}, {"answers": 1}, {"exclude_creator": False}]
)
def test_the_usual_one_takes_the_first_answer(sent: dict[str, Any]) -> None:
    assert parse(sent) == Policy() == Policy("first", 1, True, False, ())
    assert not Policy().needs_several


def test_the_fewest_and_the_most() -> None:
    for answers in (2, 15):
        assert parse({"rule": "median", "answers": answers}).needs_several
    assert len(parse({"veto": ["no"] * 50}).veto) == 50


KEYS = st.sampled_from("abc")


@st.composite
def cases(draw: st.DrawFn) -> tuple[Policy, list[Ballot], int]:
    """A policy with the ballots that are in, of which none but the last has decided, and how many
    people may still answer."""
    rule = draw(st.sampled_from(["majority", "unanimous", "median"]))
    answers = draw(st.integers(2, 6))
    count = draw(st.integers(0, answers))
    keys = [draw(KEYS) for _ in range(count)]
    veto = draw(st.sampled_from(["", "", "c"]))
    ballots = [Ballot(key, Decimal(ord(key)), is_veto=key == veto) for key in keys]
    return Policy(rule, answers), ballots, draw(st.integers(0, 7))


def judge(policy: Policy, keys: Sequence[str]) -> str | None:
    """The key that these answers decide for, by the words of docs/api.md; None without one."""
    for key in keys:
        if policy.rule == "majority" and keys.count(key) > policy.answers / 2:
            return key
    if len(keys) < policy.answers:
        return None
    if policy.rule == "median":
        ordered = sorted(keys)
        below = [key for place, key in enumerate(ordered) if 2 * (place + 1) <= len(keys) + 1]
        return below[-1]
    return keys[0] if policy.rule == "unanimous" and len(set(keys)) == 1 else None


def can_decide(policy: Policy, keys: Sequence[str], more: int) -> bool:
    """Tells whether up to so many further answers can make an outcome: tries all of them."""
    more = min(more, policy.answers - len(keys))
    return any(
        judge(policy, [*keys, *rest]) is not None
        for count in range(more + 1)
        for rest in product("abcd", repeat=count)
    )


@settings(max_examples=500, deadline=None)
@given(cases())
def test_it_decides_as_soon_as_it_can(case: tuple[Policy, list[Ballot], int]) -> None:
    """And not before: a brute search over all further answers agrees."""
    policy, ballots, able = case
    keys = [ballot.key for ballot in ballots]
    result = decide(policy, ballots, able)
    vetoes = [place for place, ballot in enumerate(ballots) if ballot.is_veto]
    if vetoes:
        assert result == Result("vetoed", vetoes[0])
    elif (key := judge(policy, keys)) is not None:
        assert result is not None
        assert result.outcome == "decided"
        assert result.ballot is not None
        assert keys[result.ballot] == key
    elif not can_decide(policy, keys, policy.answers):
        assert result == Result("no_agreement")
    elif not can_decide(policy, keys, able):
        assert result == Result("unreachable")
    else:
        assert result is None
