"""Tells pages that nothing is sent (`db.deliveries`)."""

from django.http import HttpRequest

from db import deliveries


def describe(request: HttpRequest) -> dict[str, bool]:
    """Adds to the context of templates whether webhooks, notifications and emails are held back."""
    return {"deliveries_are_off": not deliveries.seem_on()}
