"""Collects every text that is marked for translation: Python, templates and scripts."""

import ast
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.extract import extract_javascript, extract_python
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (
    "config", "web", "accounts", "webhooks", "mailing", "loops", "reviews", "api", "portal",
    "dashboard", "signin",
)  # fmt: skip
# The arguments of the functions: (message,), (singular, plural) or a context and a message.
KEYWORDS: dict[str, Any] = {
    "_": None, "_lazy": None, "gettext": None, "gettext_lazy": None, "say": None,
    "ngettext": (1, 2), "say_count": (1, 2), "pgettext": ((1, "c"), 2),
}  # fmt: skip
_STRING = r"""u?('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_CALL = re.compile(
    rf"(?P<name>gettext|ngettext|pgettext|_)\(\s*{_STRING}(?:\s*,\s*{_STRING})?", re.DOTALL
)
# A text: its context or '', and its forms (one, or singular and plural).
Text = tuple[str, tuple[str, ...]]


def collect_pages() -> list[Text]:
    """Returns the texts of Python and of templates, each once, in the order of the files."""
    found: dict[Text, None] = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            if "migrations" not in path.parts:
                found.update(dict.fromkeys(_read_python(path)))
    for path in sorted((ROOT / "templates").rglob("*")):
        if path.is_file():
            found.update(dict.fromkeys(_read_template(path)))
    return list(found)


def collect_scripts() -> list[Text]:
    """Returns the texts of the scripts."""
    found: dict[Text, None] = {}
    for path in sorted((ROOT / "static/js").rglob("*.js")):
        file = BytesIO(path.read_bytes())
        for _, _, message, _ in extract_javascript(file, {"gettext": None}, [], {}):
            first = message if isinstance(message, str) else message[0]
            found[("", (str(first),))] = None
    return list(found)


def _read_python(path: Path) -> Iterator[Text]:
    file = BytesIO(path.read_bytes())
    for _, function, message, _ in extract_python(file, KEYWORDS, [], {"encoding": "utf-8"}):
        parts = message if isinstance(message, tuple) else (message,)
        if not isinstance(parts[0], str):
            continue
        if function == "pgettext":
            yield str(parts[0]), (str(parts[1]),)
        elif function in ("ngettext", "say_count"):
            yield "", (str(parts[0]), str(parts[1]))
        else:
            yield "", (parts[0],)


def _read_template(path: Path) -> Iterator[Text]:
    source = path.read_text(encoding="utf-8")
    for call in _CALL.finditer(templatize(source, origin=str(path))):
        texts = [ast.literal_eval(each) for each in call.groups()[1:] if each]
        if call["name"] == "pgettext":
            yield texts[0], (texts[1],)
        else:
            yield "", tuple(texts if call["name"] == "ngettext" else texts[:1])
