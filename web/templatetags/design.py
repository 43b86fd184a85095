"""What every template may use: `{% load design %}`. docs/design.md shows each in use."""

from datetime import UTC, datetime
from typing import Any

from django import template
from django.forms import BoundField
from django.template.context import RequestContext
from django.templatetags.static import static
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from web.humanize import distance

register = template.Library()


@register.simple_tag
def icon(name: str, label: str = "", **attributes: str) -> SafeString:
    """A symbol of the sprite (styles/icons.txt). Without a `label` it is decoration."""
    classes = f"icon {attributes.get('class', '')}".strip()
    spoken = format_html('role="img" aria-label="{}"', label) if label else 'aria-hidden="true"'
    return format_html(
        '<svg class="{}" {}><use href="{}#{}"></use></svg>',
        classes,
        SafeString(spoken),
        static("icons.svg"),
        name,
    )


@register.simple_tag
def moment(value: datetime | None, style: str = "relative") -> SafeString:
    """A point in time in the reader's time zone, which a middleware activates.

    `relative` says "5 min ago" with the date and time in the title; `absolute` writes those out;
    `exact` adds the seconds. None is a dash.
    """
    if value is None:
        return SafeString('<span class="text-muted">–</span>')
    local = timezone.localtime(value)
    seconds = ":%S" if style == "exact" else ""
    written = f"{local.day} {local:%b %Y, %H:%M{seconds}} {local:%Z}"
    machine = value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if style != "relative":
        return format_html('<time datetime="{}">{}</time>', machine, written)
    said = distance(value, timezone.now())
    return format_html('<time datetime="{}" title="{}">{}</time>', machine, written, said)


@register.filter
def bare(field: BoundField) -> SafeString:
    """The field without a placeholder: its label says the same, and stays."""
    field.field.widget.attrs.pop("placeholder", None)
    return field.as_widget()


@register.inclusion_tag("components/nav_link.html", takes_context=True)
def nav_link(context: RequestContext, name: str, text: str, symbol: str) -> dict[str, Any]:
    """A line of the navigation; nothing where the product has no page of that name.

    It is the current one where the page's path begins with its own.
    """
    try:
        href = reverse(name)
    except NoReverseMatch:
        return {}
    request = context.get("request")
    path = request.path if request else ""
    is_current = path == href or (path.startswith(href) and href.count("/") > 2)
    return {"href": href, "text": text, "symbol": symbol, "is_current": is_current}
