"""Formats a request's context as a nested HTML list."""

from collections.abc import Callable
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import ngettext, pgettext

# A part with more entries starts closed, which keeps the answer near.
MAX_SHORT_ENTRIES = 8
_PART = (
    '<details{}><summary><span class="key" dir="auto">{}</span>'
    ' <span class="count">{}</span></summary>{}</details>'
)


def format_outline(
    value: Any, write: Callable[[Any], str] | None = None, write_name: Callable[[str], str] = str
) -> SafeString:
    """Formats any JSON value as HTML. Everything from the client is escaped.

    `write` writes a value without entries, and `write_name` each name: two may become alike.
    """
    if isinstance(value, dict) and value:
        named = [(f"{write_name(name)}:", each) for name, each in value.items()]
    elif isinstance(value, list) and value:
        named = [(f"{number}.", each) for number, each in enumerate(value, 1)]
    else:
        text = (write or format_scalar)(value)
        return format_html('<span class="value" dir="auto">{}</span>', text)
    rows = [
        (_format_entry(name, each, format_outline(each, write, write_name)),)
        for name, each in named
    ]
    return format_html("<ul>{}</ul>", format_html_join("", "<li>{}</li>", rows))


def is_short(value: Any) -> bool:
    """Tells whether the value has so few entries, on all levels, that it starts open."""
    return _count_entries(value) <= MAX_SHORT_ENTRIES


def _format_entry(name: str, value: Any, inner: SafeString) -> SafeString:
    """Formats an entry on one line, or as a section that opens and closes."""
    if not isinstance(value, dict | list) or not value:
        return format_html('<span class="key" dir="auto">{}</span> {}', name, inner)
    is_open = SafeString(" open" if is_short(value) else "")
    return format_html(_PART, is_open, name, format_count(value), inner)


def format_count(value: dict[str, Any] | list[Any]) -> str:
    """Formats the number of entries: '3 fields', '2 entries'."""
    count = len(value)
    if isinstance(value, dict):
        return ngettext("%(count)s field", "%(count)s fields", count) % {"count": count}
    return ngettext("%(count)s entry", "%(count)s entries", count) % {"count": count}


def format_scalar(value: Any) -> str:
    """Formats a value without entries."""
    if isinstance(value, bool):
        return pgettext("value", "yes") if value else pgettext("value", "no")
    if value is None or value == [] or value == {}:
        return pgettext("value", "none")
    return str(value)


def _count_entries(value: Any) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    return len(value) + sum(map(_count_entries, value)) if isinstance(value, list) else 0
