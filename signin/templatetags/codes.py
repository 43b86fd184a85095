"""Links to the pages that send a code by mail."""

from django import template
from django.urls import reverse
from django.utils.http import urlencode

from accounts import sign_in_codes

register = template.Library()


@register.simple_tag
def code_url(name: str, following: str | None = None) -> str:
    """The address of the page `name`, from which one goes on to `following`; '' where this
    service sends no mail."""
    if not sign_in_codes.are_sent():
        return ""
    return reverse(name) + (f"?{urlencode({'next': following})}" if following else "")
