"""How our templates draw the fields of other people's forms."""

from django import template
from django.forms import BoundField
from django.utils.safestring import SafeString

register = template.Library()


@register.filter
def bare(field: BoundField) -> SafeString:
    """The field without a placeholder: its label says the same, and stays."""
    field.field.widget.attrs.pop("placeholder", None)
    return field.as_widget()
