"""A request's context as a nested list that people can read."""

from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

# More than this is folded away behind its heading, so that the answer stays near.
SHORT = 8


def outline(value: Any) -> SafeString:
    """HTML of any JSON value; whatever comes from the client is escaped."""
    if isinstance(value, dict) and value:
        rows = ((key, outline(entry)) for key, entry in value.items())
        return _listed(format_html_join("", '<li><span class="key">{}:</span> {}</li>', rows))
    if isinstance(value, list) and value:
        return _listed(format_html_join("", "<li>{}</li>", ((outline(entry),) for entry in value)))
    return format_html('<span class="value">{}</span>', _word(value))


def is_short(value: Any) -> bool:
    """Whether the context has few enough entries, on all its levels, to stand open."""
    return _entries(value) <= SHORT


def _listed(items: SafeString) -> SafeString:
    return format_html("<ul>{}</ul>", items)


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value == [] or value == {}:
        return "none"
    return str(value)


def _entries(value: Any) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    return len(value) + sum(map(_entries, value)) if isinstance(value, list) else 0
