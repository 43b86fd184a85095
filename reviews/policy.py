"""How the answers of several people become one outcome (docs/contract.md, `policy`). Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any, Final

from web.phrases import say

FIRST, MAJORITY, UNANIMOUS, MEDIAN = RULES = ("first", "majority", "unanimous", "median")
LEAST, MOST = 2, 15  # answers; one for FIRST
MAX_VETOES = 50

DECIDED: Final = "decided"
VETOED: Final = "vetoed"
DEFAULT: Final = "default"
NO_AGREEMENT: Final = "no_agreement"
UNREACHABLE: Final = "unreachable"
OUTCOMES: Final = (DECIDED, VETOED, DEFAULT, NO_AGREEMENT, UNREACHABLE)


class InvalidPolicy(ValueError):
    """The argument is a sentence that begins with the path of the field; a phrase if people can
    cause it."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How many people answer, and which rule makes one outcome of it."""

    rule: str = FIRST
    answers: int = 1
    blind: bool = True
    exclude_creator: bool = False
    veto: tuple[Any, ...] = ()

    @property
    def needs_several(self) -> bool:
        return self.answers > 1

    def store(self) -> dict[str, Any]:
        """Returns it as JSON, with all its fields."""
        return {**asdict(self), "veto": list(self.veto)}


@dataclass(frozen=True, slots=True)
class Ballot:
    """An answer as a rule sees it. Equal answers have equal keys; a median needs the `number`."""

    key: str
    number: Decimal | None = None
    is_veto: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What came of the answers. `ballot` is the place of the one that became the outcome."""

    outcome: str
    ballot: int | None = None


def read(stored: Mapping[str, Any]) -> Policy:
    """Reads a policy that `Policy.store` has written."""
    return Policy(**{**stored, "veto": tuple(stored["veto"])})


def parse(fields: Mapping[str, Any]) -> Policy:
    """Parses a policy that a client sent. Raises InvalidPolicy."""
    unknown = sorted(fields.keys() - Policy.__dataclass_fields__.keys())
    if unknown:
        raise InvalidPolicy(f"policy has an unknown field: {unknown[0]}")
    given = {name: value for name, value in fields.items() if value is not None}
    rule = given.get("rule", FIRST)
    if rule not in RULES:
        names = ", ".join(RULES)
        raise InvalidPolicy(
            say("%(field)s must be one of: %(names)s", field="policy.rule", names=names)
        )
    for name in ("blind", "exclude_creator"):
        if not isinstance(given.get(name, False), bool):
            raise InvalidPolicy(f"policy.{name} must be a boolean")
    veto = given.get("veto", [])
    if not isinstance(veto, list):
        raise InvalidPolicy("policy.veto must be an array of answers")
    if len(veto) > MAX_VETOES:
        raise InvalidPolicy(
            say(
                "%(field)s must have at most %(most)s entries", field="policy.veto", most=MAX_VETOES
            )
        )
    return Policy(**{**given, "answers": _parse_answers(rule, given), "veto": tuple(veto)})


def _parse_answers(rule: str, given: Mapping[str, Any]) -> int:
    answers = given.get("answers", 1 if rule == FIRST else None)
    is_whole = isinstance(answers, int) and not isinstance(answers, bool)
    if rule == FIRST:
        if not is_whole or answers != 1:
            raise InvalidPolicy("policy.answers must be 1 for the rule first")
    elif not is_whole or not LEAST <= answers <= MOST:
        raise InvalidPolicy(
            say(
                "%(field)s must be an integer between %(least)s and %(most)s",
                field="policy.answers",
                least=LEAST,
                most=MOST,
            )
        )
    return int(answers)


def decide(policy: Policy, ballots: Sequence[Ballot], able: int) -> Result | None:
    """Returns the outcome of the ballots, the oldest first; None while there is none.

    `able` is the number of people who may still answer and have not.
    """
    for place, ballot in enumerate(ballots):
        if ballot.is_veto:
            return Result(VETOED, place)
    missing = policy.answers - len(ballots)
    if policy.rule == MAJORITY:
        return _decide_by_majority(policy, ballots, missing, able)
    if policy.rule == UNANIMOUS and len({ballot.key for ballot in ballots}) > 1:
        return Result(NO_AGREEMENT)
    if missing > 0:
        return Result(UNREACHABLE) if able < missing else None
    return Result(DECIDED, _find_median(ballots) if policy.rule == MEDIAN else len(ballots) - 1)


def _decide_by_majority(
    policy: Policy, ballots: Sequence[Ballot], missing: int, able: int
) -> Result | None:
    counted = Counter(ballot.key for ballot in ballots)
    key, most = counted.most_common(1)[0] if counted else ("", 0)
    if most * 2 > policy.answers:
        return Result(DECIDED, max(i for i, ballot in enumerate(ballots) if ballot.key == key))
    if (most + missing) * 2 <= policy.answers:
        return Result(NO_AGREEMENT)
    return None if (most + able) * 2 > policy.answers else Result(UNREACHABLE)


def _find_median(ballots: Sequence[Ballot]) -> int:
    """Returns the place of the median, of two the lower one."""
    places = sorted(range(len(ballots)), key=lambda place: ballots[place].number or 0)
    return places[(len(places) - 1) // 2]
