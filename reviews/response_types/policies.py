"""Which policies fit which type of answer. Pure."""

from reviews.policy import InvalidPolicy, Policy
from reviews.response_types.base import ResponseType
from reviews.response_types.faults import InvalidAnswer
from reviews.response_types.fields import Config
from web.phrases import say


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
