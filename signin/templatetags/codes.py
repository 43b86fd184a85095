"""Template tag for links to the pages that send a code by email."""

from django import template
from django.urls import reverse
from django.utils.http import urlencode

from accounts import sign_in_codes

register = template.Library()


@register.simple_tag
def code_url(name: str, following: str | None = None) -> str:
    """Returns the URL of the page `name`, which leads to `following` after signing in.

    Returns '' if this service cannot send email.
    """
    if not sign_in_codes.can_send():
        return ""
    return reverse(name) + (f"?{urlencode({'next': following})}" if following else "")
