"""Form fields about people, shared by several pages."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _lazy

from accounts.emails import clean_address

MAX_ADDRESS_LENGTH = 254  # characters, as stored


class AddressField(forms.EmailField):
    """A typed or pasted email address, as it is stored."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"max_length": MAX_ADDRESS_LENGTH, **options})

    def to_python(self, value: Any) -> str:
        return clean_address(str(super().to_python(value)))


def name_field(**options: Any) -> forms.CharField:
    """Returns the form field for a person's name."""
    return forms.CharField(
        label=_lazy("Your name"),
        max_length=100,
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
        help_text=_lazy("Shown next to your answers."),
        **options,
    )
