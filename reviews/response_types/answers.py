"""What a reviewer may answer, and the JSON value that the client reads (resolved gaps 26, 27)."""

import re
from collections.abc import Callable

from reviews.response_types.configuration import (
    multi_bounds,
    number_bounds,
    options,
    rating_bounds,
    text_bounds,
)
from reviews.response_types.decimals import exact, json_number, places
from reviews.response_types.faults import InvalidAnswer
from reviews.response_types.fields import Config

Answer = str | int | float | list[str]

# PostgreSQL's jsonb can hold neither.
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def check_answer(response_type: str, config: Config, answer: object) -> Answer:
    """The answer as `response_data` gives it; InvalidAnswer with a sentence for the reviewer.

    Text and a choice come back as they are, several choices in the options' order, a rating and
    a number as an int where they are whole.
    """
    return _CHECKS[response_type](config, answer)


def _text(config: Config, answer: object) -> str:
    bounds = text_bounds(config)
    text = "" if answer is None else answer
    if not isinstance(text, str):
        raise InvalidAnswer("The answer must be text")
    if bounds.required and not text.strip():
        raise InvalidAnswer("Write an answer")
    if _UNSTORABLE.search(text):
        raise InvalidAnswer("The answer contains a character that cannot be stored")
    # Where no answer is needed, none is exempt from the minimum.
    if text and len(text) < bounds.minimum:
        raise InvalidAnswer(f"The answer must have at least {_count(bounds.minimum, 'character')}")
    if len(text) > bounds.maximum:
        raise InvalidAnswer(f"The answer must have at most {_count(bounds.maximum, 'character')}")
    return text


def _single(config: Config, answer: object) -> str:
    offered = [option.value for option in options(config)]
    if not isinstance(answer, str) or answer not in offered:
        raise InvalidAnswer("Choose one of the options")
    return answer


def _multi(config: Config, answer: object) -> list[str]:
    bounds = multi_bounds(config)
    offered = [option.value for option in options(config)]
    chosen = [] if answer is None else answer
    if not isinstance(chosen, list) or not all(
        isinstance(value, str) and value in offered for value in chosen
    ):
        raise InvalidAnswer("Choose only from the options")
    if len(set(chosen)) < len(chosen):
        raise InvalidAnswer("Choose each option only once")
    if not chosen and not bounds.required:
        return []
    if len(chosen) < bounds.minimum:
        raise InvalidAnswer(f"Choose at least {_count(bounds.minimum, 'option')}")
    if len(chosen) > bounds.maximum:
        raise InvalidAnswer(f"Choose at most {_count(bounds.maximum, 'option')}")
    return [value for value in offered if value in chosen]


def _rating(config: Config, answer: object) -> int | float:
    bounds = rating_bounds(config)
    number = json_number(answer)
    if number is None:
        raise InvalidAnswer("Choose a rating")
    rating = exact(number)
    if not bounds.minimum <= rating <= bounds.maximum:
        raise InvalidAnswer(f"The rating must be between {bounds.minimum} and {bounds.maximum}")
    # Digits first: a hair beside a step would be rounded onto it by the subtraction.
    finest = max(places(bounds.minimum), places(bounds.step))
    if places(rating) > finest or (rating - bounds.minimum) % bounds.step:
        raise InvalidAnswer(f"The rating must go in steps of {bounds.step} from {bounds.minimum}")
    return number


def _number(config: Config, answer: object) -> int | float:
    bounds = number_bounds(config)
    number = json_number(answer)
    if number is None:
        raise InvalidAnswer("Enter a number")
    value = exact(number)
    if not bounds.minimum <= value <= bounds.maximum:
        raise InvalidAnswer(f"The number must be between {bounds.minimum} and {bounds.maximum}")
    if places(value) > bounds.decimal_places:
        if bounds.decimal_places == 0:
            raise InvalidAnswer("The number must be a whole number")
        allowed = _count(bounds.decimal_places, "decimal place")
        raise InvalidAnswer(f"The number must have at most {allowed}")
    return number


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


_CHECKS: dict[str, Callable[[Config, object], Answer]] = {
    "text": _text,
    "single_select": _single,
    "multi_select": _multi,
    "rating": _rating,
    "number": _number,
}
