"""`{% ask_for_notifications %}`: the card that offers push notifications on this device."""

from typing import Any

from django import template
from django.template.context import Context

from reviews.notifications.push import vapid

register = template.Library()


@register.inclusion_tag("portal/notifications/_ask.html", takes_context=True)
def ask_for_notifications(
    context: Context, *, always: bool = False, aside: bool = False
) -> dict[str, Any]:
    """Renders the card, which shows itself if there is something to offer.

    With `always` it also shows the current state. Use `aside` on a page with another main button.

    The page loads the module `js/push.js`, or one that imports it.
    """
    token = context.get("csrf_token")
    options = {"always": always, "aside": aside, "csrf_token": token}
    return {"push_key": vapid.public_key(), **options}
