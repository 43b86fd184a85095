"""Makes a pseudo-locale: all texts accented, longer and in brackets, from right to left.

Tests use it to find unmarked texts and layouts without space for longer ones. Its language code is
that of Arabic, so Django's own texts appear in Arabic.
"""

import re
from pathlib import Path

from babel.messages.catalog import Catalog

from languages.catalogues import DOMAINS, build, compile_catalogue
from languages.extraction import Text

LANGUAGE = "ar-xb"
_FOLDER = "ar_XB"
_KEPT = re.compile(r"%\(\w+\)s|%%|\{\w*\}|<[^>]*>|&\w+;|https?://\S+|\n")
_ACCENTED = str.maketrans(
    "AEIOUYCDGLNRSTZaeiouycdglnrstzbfhjkmpqvwxBFHJKMPQVWX",
    "ÅÉÎÖÛÝÇÐĜĹÑŘŠŤŽåéîöûýçðĝĺñřšťžƀƒĥĵķɱþɋṽŵẋƁƑĤĴĶṀÞɊṼŴẊ",
)
_PADDING = "ơɔŭ"


def disguise(text: str) -> str:
    """Accents a text and makes it a third longer; values, tags and addresses stay."""
    parts, end = [], 0
    for kept in _KEPT.finditer(text):
        parts += [text[end : kept.start()].translate(_ACCENTED), kept[0]]
        end = kept.end()
    parts.append(text[end:].translate(_ACCENTED))
    letters = sum(len(part) for part in parts[::2])
    padding = " ".join([_PADDING] * max(1, letters // 12))
    return f"[{''.join(parts)} {padding}]"


def write(folder: Path) -> None:
    """Writes the compiled catalogues below `folder`, for LOCALE_PATHS."""
    target = folder / _FOLDER / "LC_MESSAGES"
    target.mkdir(parents=True, exist_ok=True)
    for domain, collect in DOMAINS.items():
        (target / f"{domain}.mo").write_bytes(_compile(collect()))


def _compile(texts: list[Text]) -> bytes:
    # the plural forms of English, because Arabic has six
    catalog = build("en", texts, Catalog())
    for message in catalog:
        if message.id:
            dates = message.context == "date"  # patterns of Django, not words
            message.string = message.id if dates else _translate(message.id)
    return compile_catalogue(catalog)


def _translate(text: str | tuple[str, ...] | list[str]) -> str | tuple[str, ...]:
    return disguise(text) if isinstance(text, str) else tuple(disguise(each) for each in text)
