"""Tells pages that nothing is sent (DELIVERIES=off)."""

from django.conf import settings
from django.http import HttpRequest


def describe(request: HttpRequest) -> dict[str, bool]:
    """Adds to the context of templates whether webhooks, notifications and emails are held back."""
    return {"deliveries_are_off": not settings.DELIVERIES_ARE_ON}
