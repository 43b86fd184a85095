"""The form of the account page."""

from typing import Any

from django import forms

from accounts.forms import name_field
from accounts.time_zones import list_choices


class ProfileForm(forms.Form):
    """A person's name and time zone."""

    name = name_field(error_messages={"required": "Enter your name"})
    time_zone = forms.ChoiceField(
        label="Time zone", help_text="Used for times on pages. The API always uses UTC."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        zone: Any = self.fields["time_zone"]
        zone.choices = list_choices()
