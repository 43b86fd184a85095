"""Keeps Arabic, Hebrew and other text from right to left in its place inside a sentence. Pure."""

import re

# Hebrew, Arabic, Syriac, Thaana, NKo and their neighbours, with the presentation forms
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff]")
_OPEN, _CLOSE = "\u2068", "\u2069"  # first strong isolate, pop directional isolate


def isolate(text: object) -> str:
    """Wraps a text in invisible marks if it runs from right to left anywhere.

    For plain text, such as titles, messages and emails; elements have `dir="auto"` instead.
    """
    plain = str(text)
    return f"{_OPEN}{plain}{_CLOSE}" if _RIGHT_TO_LEFT.search(plain) else plain
