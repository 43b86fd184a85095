"""Words that the sentences of several types share."""


def counted(number: int, noun: str) -> str:
    """'1 option', '2 options'."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def rule_of(rule: str, *, required: bool, nothing: str) -> str:
    """The rule as a sentence, which says where no answer is needed."""
    return f"{rule}." if required else f"{rule}, or {nothing}."
