"""Which policies fit which type of answer. Pure."""

from collections.abc import Mapping
from typing import Any

from reviews.policy import InvalidPolicy, Policy, parse
from reviews.response_types.base import ResponseType
from reviews.response_types.decimals import to_json_number
from reviews.response_types.faults import InvalidAnswer
from reviews.response_types.fields import Config
from web.phrases import say

MAX_LOOP_VETO = 200  # characters, as an option in `loops.comment_rule`


def parse_for_loop(fields: Mapping[str, Any]) -> Policy:
    """Parses the policy of a loop, whose requests may be of any type. Raises InvalidPolicy.

    A veto is an option or a number. Every request of the loop stores it.
    """
    policy = parse(fields)
    for place, vote in enumerate(policy.veto):
        is_option = isinstance(vote, str) and 0 < len(vote) <= MAX_LOOP_VETO
        if not is_option and to_json_number(vote) is None:
            raise InvalidPolicy(
                say(
                    "%(field)s must be a number or a text of 1 to %(most)s characters",
                    field=f"policy.veto[{place}]",
                    most=MAX_LOOP_VETO,
                )
            )
    return policy


def check_rule(policy: Policy, kind: ResponseType) -> None:
    """Raises InvalidPolicy unless answers of the type can have the rule."""
    if policy.rule not in kind.rules:
        raise InvalidPolicy(
            say(
                "%(field)s %(rule)s is not possible for response_type %(type)s, which can have:"
                " %(names)s",
                field="policy.rule",
                rule=policy.rule,
                type=kind.name,
                names=", ".join(kind.rules),
            )
        )


def check_veto(policy: Policy, kind: ResponseType, config: Config) -> None:
    """Raises InvalidPolicy unless each veto is a possible answer to the request."""
    if policy.veto and not kind.has_vetoes:
        raise InvalidPolicy(
            say(
                "%(field)s is not possible for response_type %(type)s",
                field="policy.veto",
                type=kind.name,
            )
        )
    for place, vote in enumerate(policy.veto):
        try:
            kind.check_vote(config, vote)
        except InvalidAnswer:
            field = f"policy.veto[{place}]"
            raise InvalidPolicy(
                say("%(field)s must be a possible answer to the request", field=field)
            ) from None
