"""Tells pages whether deliveries are off (`db.deliveries`)."""

from django.http import HttpRequest

from db import deliveries


def describe(request: HttpRequest) -> dict[str, bool]:
    """Adds to the template context whether webhooks, notifications and emails are off."""
    return {"deliveries_are_off": not deliveries.seem_on()}
