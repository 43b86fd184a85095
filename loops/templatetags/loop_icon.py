"""The template tag `{% loop_icon loop.icon %}`."""

from django import template
from django.utils.safestring import SafeString

from loops.icons import get_symbol
from web.templatetags.design import icon

register = template.Library()


@register.simple_tag
def loop_icon(identifier: str, label: str = "", **attributes: str) -> SafeString:
    """Renders a loop's icon as SVG. Without a `label`, screen readers skip it."""
    svg: SafeString = icon(get_symbol(identifier), label, **attributes)
    return svg
