"""What can be wrong with a configuration, a default and an answer. `str(fault)` is the sentence."""


class InvalidConfiguration(ValueError):  # noqa: N818
    """`data` of a 400 'Invalid response configuration'; names the field."""


class InvalidDefault(ValueError):  # noqa: N818
    """`data` of a 400 'Invalid default response'."""


class InvalidAnswer(ValueError):  # noqa: N818
    """Shown to the reviewer beside the field."""
