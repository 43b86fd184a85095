"""`{% ask_for_notifications %}`: the card that offers pushes on this device."""

from typing import Any

from django import template
from django.template.context import Context

from reviews.notifications.push import vapid

register = template.Library()


@register.inclusion_tag("portal/notifications/_ask.html", takes_context=True)
def ask_for_notifications(
    context: Context, *, always: bool = False, aside: bool = False
) -> dict[str, Any]:
    """Shows itself where there is something to ask, and with `always` also what became of it;
    `aside` on a page whose main button is another.

    The page loads the module `js/push.js`, or one that imports it.
    """
    token = context.get("csrf_token")
    shown = {"always": always, "aside": aside, "csrf_token": token}
    return {"push_key": vapid.public_key(), **shown}
