"""The rule of a loop on which options need a comment."""

from collections.abc import Iterable

from web.sanitize import UNSTORABLE

MAX_OPTIONS = 100
MAX_LENGTH = 200  # characters of one option


class InvalidOptions(ValueError):
    """Too many options, or one that is blank, too long or cannot be stored."""


def clean_options(typed: Iterable[str]) -> list[str]:
    """Returns the options in their order, without duplicates. Raises InvalidOptions."""
    options = list(dict.fromkeys(option.strip() for option in typed))
    if len(options) > MAX_OPTIONS or not all(map(_is_valid, options)):
        raise InvalidOptions
    return options


def fold(option: str) -> str:
    """Returns the form in which two spellings of an option are equal."""
    return option.strip().casefold()


def _is_valid(option: str) -> bool:
    return 0 < len(option) <= MAX_LENGTH and not UNSTORABLE.search(option)
