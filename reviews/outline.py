"""A request's context as a nested list that people can read."""

from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

# More than this is folded away behind its heading, so that the answer stays near.
SHORT = 8
_PART = (
    '<details{}><summary><span class="key">{}</span> <span class="count">{}</span></summary>'
    "{}</details>"
)


def outline(value: Any) -> SafeString:
    """HTML of any JSON value; whatever comes from the client is escaped."""
    if isinstance(value, dict) and value:
        rows = ((_named(f"{key}:", entry),) for key, entry in value.items())
    elif isinstance(value, list) and value:
        rows = ((_named(f"{number}.", entry),) for number, entry in enumerate(value, start=1))
    else:
        return format_html('<span class="value">{}</span>', _word(value))
    return format_html("<ul>{}</ul>", format_html_join("", "<li>{}</li>", rows))


def is_short(value: Any) -> bool:
    """Whether the context has few enough entries, on all its levels, to stand open."""
    return _entries(value) <= SHORT


def _named(name: str, value: Any) -> SafeString:
    """An entry: in its line, or as a part that folds."""
    if not isinstance(value, dict | list) or not value:
        return format_html('<span class="key">{}</span> {}', name, outline(value))
    is_open = SafeString(" open" if is_short(value) else "")
    return format_html(_PART, is_open, name, _count(value), outline(value))


def _count(value: dict[str, Any] | list[Any]) -> str:
    one, many = ("field", "fields") if isinstance(value, dict) else ("entry", "entries")
    return f"{len(value)} {one if len(value) == 1 else many}"


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
