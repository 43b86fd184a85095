"""Formats words that several response types share."""

from web.phrases import Phrase, say, say_count


def count_options(count: int) -> Phrase:
    """Formats a number of options: '1 option', '2 options'."""
    return say_count("%(count)s option", "%(count)s options", count=count)


def count_characters(count: int) -> Phrase:
    """Formats a number of characters: '1 character', '2 characters'."""
    return say_count("%(count)s character", "%(count)s characters", count=count)


def count_places(count: int) -> Phrase:
    """Formats a number of decimal places: '1 decimal place', '2 decimal places'."""
    return say_count("%(count)s decimal place", "%(count)s decimal places", count=count)


def format_rule(rule: str, *, required: bool, nothing: str) -> Phrase:
    """Formats the rule as a sentence, which names the empty answer if it is allowed."""
    if required:
        return say("%(rule)s.", rule=rule)
    return say("%(rule)s, or %(nothing)s.", rule=rule, nothing=nothing)
