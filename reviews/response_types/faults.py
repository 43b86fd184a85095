"""What can be wrong with a configuration, a default and an answer. `str(fault)` is the sentence."""


class InvalidConfiguration(ValueError):
    """`data` of a 400 'Invalid response configuration'; names the field."""


class InvalidDefault(ValueError):
    """`data` of a 400 'Invalid default response'."""


class InvalidAnswer(ValueError):
    """Shown to the reviewer beside the field."""


class UnknownResponseType(LookupError):
    """No response type has that name. The API refuses such a name before anybody looks it up."""
