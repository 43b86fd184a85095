"""`{% loop_icon loop.icon %}`."""

from django import template
from django.utils.safestring import SafeString

from loops.icons import symbol
from web.templatetags.design import icon

register = template.Library()


@register.simple_tag
def loop_icon(identifier: str, label: str = "", **attributes: str) -> SafeString:
    """The symbol of a loop's icon. Without a `label` it is decoration."""
    drawn: SafeString = icon(symbol(identifier), label, **attributes)
    return drawn
