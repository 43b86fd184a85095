"""Template tags for links to sign up and to get a code, and for the absence of email."""

from django import template
from django.urls import reverse
from django.utils.http import urlencode

from accounts import sign_in_codes
from signin import sign_up_rules

register = template.Library()
SIGN_UP = "sign-up-by-code"


@register.simple_tag
def code_url(name: str, following: str | None = None) -> str:
    """Returns the URL of the page `name`, which leads to `following` after signing in.

    Returns '' if this service cannot send email, or for signing up if that is closed.
    """
    if not sign_in_codes.can_send() or (name == SIGN_UP and sign_up_rules.is_closed()):
        return ""
    return reverse(name) + (f"?{urlencode({'next': following})}" if following else "")


@register.simple_tag
def sends_mail() -> bool:
    """Tells whether this service sends email."""
    return sign_in_codes.can_send()


@register.simple_tag
def may_sign_up() -> bool:
    """Tells whether anybody may sign up."""
    return not sign_up_rules.is_closed()
