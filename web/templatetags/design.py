"""Template tags for all pages: `{% load design %}`. docs/design.md shows how to use each."""

from datetime import UTC, datetime
from typing import Any

from django import template
from django.forms import BoundField, Select, Textarea, TextInput
from django.template.context import RequestContext
from django.templatetags.static import static
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from web import bidi
from web.humanize import format_count, format_distance, format_moment
from web.languages import translate

register = template.Library()
register.filter("isolate", bidi.isolate)
register.filter("translated", translate)  # of a web.phrases.Phrase
WORDS = (TextInput, Textarea, Select)  # widgets
ALLAUTH_PAGES = "/accounts/"  # addresses, password, second factor
# Icons that point along the line; on a page from right to left they point the other way.
DIRECTED = {
    *("arrow-left", "arrow-right", "arrow-back-up", "chevron-left", "chevron-right"),
    *("player-skip-forward", "send", "logout"),
}


@register.simple_tag
def icon(name: str, label: str = "", **attributes: str) -> SafeString:
    """Renders an icon of the sprite (styles/icons.txt). Without a `label` it is decoration."""
    classes = ["icon", attributes.get("class", ""), "directed" if name in DIRECTED else ""]
    aria = format_html('role="img" aria-label="{}"', label) if label else 'aria-hidden="true"'
    return format_html(
        '<svg class="{}" {}><use href="{}#{}"></use></svg>',
        " ".join(filter(None, classes)),
        SafeString(aria),
        static("icons.svg"),
        name,
    )


@register.simple_tag
def moment(value: datetime | None, style: str = "relative") -> SafeString:
    """Renders a time in the current user's time zone, which a middleware activates.

    `relative` shows "5 min ago", with date and time in the title; `absolute` shows date and time;
    `exact` adds the seconds. None is shown as a dash.
    """
    if value is None:
        return SafeString('<span class="text-muted">–</span>')
    local = timezone.localtime(value)
    full = format_moment(local, with_seconds=style == "exact")
    machine = value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if style != "relative":
        return format_html('<time datetime="{}">{}</time>', machine, full)
    relative = format_distance(value, timezone.now())
    return format_html('<time datetime="{}" title="{}">{}</time>', machine, full, relative)


@register.filter
def number(value: int) -> str:
    """Formats a whole number with separators between thousands, as the language writes them."""
    return format_count(value)


@register.filter
def bare(field: BoundField) -> SafeString:
    """Renders the field without a placeholder, because its label says the same.

    A text field follows the direction of its text. The only error of a form has the focus; several
    are listed above (error_summary).
    """
    attributes = field.field.widget.attrs
    attributes.pop("placeholder", None)
    if isinstance(field.field.widget, WORDS):
        attributes.setdefault("dir", "auto")
    if is_only_error(field):
        attributes["autofocus"] = True
    return field.as_widget()


@register.filter
def is_only_error(field: BoundField) -> bool:
    """Returns whether no other field of the form has an error."""
    return bool(field.errors) and sum(map(len, field.form.errors.values())) == 1


@register.inclusion_tag("components/nav_link.html", takes_context=True)
def nav_link(context: RequestContext, name: str, text: str, symbol: str) -> dict[str, Any]:
    """Renders a link of the navigation, or nothing if there is no page with the name.

    The link is the current one if the path of the request begins with its path, that of the account
    also on the pages below /accounts/, and that of deliveries on the pages of webhook endpoints.
    """
    try:
        href = reverse(name)
    except NoReverseMatch:
        return {}
    request = context.get("request")
    path = request.path if request else ""
    is_current = path == href or (path.startswith(href) and href.count("/") > 2)
    if name == "account" and path.startswith(ALLAUTH_PAGES):
        is_current = path != reverse("account_logout")
    if name == "deliveries" and path.startswith(reverse("webhook-endpoints")):
        is_current = True
    return {"href": href, "text": text, "symbol": symbol, "is_current": is_current}
