"""Errors in a configuration, a default or an answer. `str(error)` is the sentence to show."""

from collections.abc import Mapping


class InvalidConfiguration(ValueError):
    """The `data` of a 400 'Invalid response configuration'; it names the field."""


class InvalidDefault(ValueError):
    """The `data` of a 400 'Invalid default response'."""


class InvalidAnswer(ValueError):
    """The error that the reviewer sees beside the field."""


class InvalidFields(InvalidAnswer):
    """The errors of several fields, by the name under which each was posted."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__(next(iter(errors.values())))
        self.errors = errors


class Unconfirmed(InvalidAnswer):
    """The answer is valid, but its sender has not seen yet what it changes."""


class UnknownResponseType(LookupError):
    """No response type has that name. The API refuses such names before the look-up."""
