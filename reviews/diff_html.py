"""Renders the changes between two versions as HTML: `del` and `ins`, in marks and in hidden words.

A screen reader says "[removed: …]" and "[added: …]", because few of them say the elements.
Invisible characters in what differs get names.
"""

import json
from collections.abc import Iterable
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from reviews.changes import Change, Part
from reviews.outline import format_scalar
from web.sanitize import show_invisible

MAX_VALUE = 300  # characters
_HIDDEN = '<span class="sr-only">{}</span>'
_MARKED = f'<{{}} dir="auto">{_HIDDEN}{{}}{_HIDDEN}</{{}}>'


def format_text(parts: Iterable[Part]) -> SafeString:
    """Formats the parts of a text; everything from the client is escaped."""
    return format_html_join("", "{}", ((_format_part(part),) for part in parts))


def format_change(change: Change) -> SafeString:
    """Formats a value as it was, and as it is: in JSON where both would read the same."""
    before, after = _format_value(change.before), _format_value(change.after)
    if change.has_before and change.has_after and before == after:
        before, after = _write_json(change.before), _write_json(change.after)
    shown = []
    if change.has_before:
        shown.append(_mark("del", before))
    if change.has_after:
        shown.append(_mark("ins", after))
    return format_html_join(
        SafeString(' <span aria-hidden="true">→</span> '), "{}", ((each,) for each in shown)
    )


def _format_part(part: Part) -> SafeString | str:
    if part.is_removed:
        return _mark("del", part.text)
    return _mark("ins", part.text) if part.is_added else part.text


def _mark(tag: str, text: str) -> SafeString:
    word = _("removed:") if tag == "del" else _("added:")
    name = SafeString(tag)
    return format_html(_MARKED, name, f"[{word} ", show_invisible(text), "]", name)


def _format_value(value: Any) -> str:
    return _write_json(value) if isinstance(value, dict | list) else _cut(format_scalar(value))


def _write_json(value: Any) -> str:
    return _cut(json.dumps(value, ensure_ascii=False))


def _cut(text: str) -> str:
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}…"
