"""Formats words that several response types share."""


def pluralize(number: int, noun: str) -> str:
    """Formats a number with its noun: '1 option', '2 options'."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def format_rule(rule: str, *, required: bool, nothing: str) -> str:
    """Formats the rule as a sentence, which names the empty answer if it is allowed."""
    return f"{rule}." if required else f"{rule}, or {nothing}."
