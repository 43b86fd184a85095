"""The five answer types: what a client may configure, what a reviewer may answer.

Pure rules (specification, "Response configuration"; resolved gaps 6 and 24-27). Values are what
the JSON parser gives: the parser has already refused NaN, infinities and unstorable strings.
A configuration is read afresh wherever it is needed, so a rule stands in one place only:
every function below raises InvalidConfiguration for a configuration that was never checked.
"""

from reviews.response_types.answers import Answer, check_answer
from reviews.response_types.configuration import (
    RESPONSE_TYPES,
    MultiBounds,
    NumberBounds,
    Option,
    RatingBounds,
    TextBounds,
    check_configuration,
    multi_bounds,
    number_bounds,
    options,
    rating_bounds,
    rating_steps,
    text_bounds,
)
from reviews.response_types.defaults import check_default
from reviews.response_types.faults import InvalidAnswer, InvalidConfiguration, InvalidDefault
from reviews.response_types.forms import parse_answer

__all__ = [
    "RESPONSE_TYPES",
    "Answer",
    "InvalidAnswer",
    "InvalidConfiguration",
    "InvalidDefault",
    "MultiBounds",
    "NumberBounds",
    "Option",
    "RatingBounds",
    "TextBounds",
    "check_answer",
    "check_configuration",
    "check_default",
    "multi_bounds",
    "number_bounds",
    "options",
    "parse_answer",
    "rating_bounds",
    "rating_steps",
    "text_bounds",
]
