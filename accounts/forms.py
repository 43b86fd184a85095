"""Form fields about people, shared by several pages."""

from typing import Any

from django import forms


def name_field(**options: Any) -> forms.CharField:
    """Returns the form field for a person's name."""
    return forms.CharField(
        label="Your name",
        max_length=100,
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
        help_text="Shown next to your answers.",
        **options,
    )
