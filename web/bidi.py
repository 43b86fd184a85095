"""Isolates people's text inside sentences that run in the other direction."""

import re

from django.utils.translation import get_language_bidi

# Hebrew, Arabic, Syriac, Thaana, NKo and their neighbours, with the presentation forms
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff]")
_OPEN, _CLOSE = "\u2068", "\u2069"  # first strong isolate, pop directional isolate


def isolate(text: object) -> str:
    """Wraps a text in invisible marks if the text or the page runs from right to left.

    For plain text, such as titles, messages and emails; elements have `dir="auto"` instead.
    """
    plain = str(text)
    is_needed = get_language_bidi() or _RIGHT_TO_LEFT.search(plain)
    return f"{_OPEN}{plain}{_CLOSE}" if plain and is_needed else plain
