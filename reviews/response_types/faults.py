"""Errors in a configuration, a default or an answer. `str(error)` is the sentence to show."""


class InvalidConfiguration(ValueError):
    """The `data` of a 400 'Invalid response configuration'; it names the field."""


class InvalidDefault(ValueError):
    """The `data` of a 400 'Invalid default response'."""


class InvalidAnswer(ValueError):
    """The error that the reviewer sees beside the field."""


class UnknownResponseType(LookupError):
    """No response type has that name. The API refuses such names before the look-up."""
