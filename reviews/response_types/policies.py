"""Which policies fit which type of answer. Pure."""

from reviews.policy import InvalidPolicy, Policy
from reviews.response_types.base import ResponseType
from reviews.response_types.faults import InvalidAnswer
from reviews.response_types.fields import Config


def check_rule(policy: Policy, kind: ResponseType) -> None:
    """Raises InvalidPolicy unless answers of the type can have the rule."""
    if policy.rule not in kind.rules:
        possible = ", ".join(kind.rules)
        raise InvalidPolicy(
            f"policy.rule {policy.rule} is not possible for response_type {kind.name}, which can"
            f" have: {possible}"
        )


def check_veto(policy: Policy, kind: ResponseType, config: Config) -> None:
    """Raises InvalidPolicy unless each veto is a possible answer to the request."""
    if policy.veto and not kind.has_vetoes:
        raise InvalidPolicy(f"policy.veto is not possible for response_type {kind.name}")
    for place, vote in enumerate(policy.veto):
        try:
            kind.check_vote(config, vote)
        except InvalidAnswer:
            raise InvalidPolicy(
                f"policy.veto[{place}] must be a possible answer to the request"
            ) from None
