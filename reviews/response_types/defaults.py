"""The answer that stands in when nobody answers in time (resolved gap 24).

It is a machine's fallback, so its type is checked and the reviewers' bounds are not.
"""

from typing import Any

from reviews.response_types.configuration import options
from reviews.response_types.decimals import json_number
from reviews.response_types.faults import InvalidDefault
from reviews.response_types.fields import Config


def check_default(response_type: str, config: Config, default: object) -> None:
    """Raise InvalidDefault unless `default` fits the answer type.

    A select takes one option's value, multi_select also a list of such values, none of them
    twice and not empty: an empty list matches no option.
    """
    if response_type in ("single_select", "multi_select"):
        _check_choice(response_type, config, default)
    elif response_type == "text":
        if not isinstance(default, str):
            raise InvalidDefault("default_response must be a string")
    elif json_number(default) is None:
        raise InvalidDefault("default_response must be a number")


def _check_choice(response_type: str, config: Config, default: object) -> None:
    values = {option.value for option in options(config)}
    several = isinstance(default, list) and response_type == "multi_select"
    chosen: Any = default if several else [default]
    if not chosen or not all(isinstance(value, str) and value in values for value in chosen):
        raise InvalidDefault("default_response must match one of the configured options")
    if len(set(chosen)) < len(chosen):
        raise InvalidDefault("default_response must not contain an option twice")
