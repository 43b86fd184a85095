"""Form fields about people that several pages share."""

from typing import Any

from django import forms


def name_field(**options: Any) -> forms.CharField:
    """How somebody is called."""
    return forms.CharField(
        label="Your name",
        max_length=100,
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
        help_text="Shown next to your answers.",
        **options,
    )
