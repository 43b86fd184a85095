"""The form of the account page."""

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _lazy

from accounts.forms import name_field
from accounts.time_zones import list_choices


class ProfileForm(forms.Form):
    """A person's name, time zone and language."""

    name = name_field(error_messages={"required": _lazy("Enter your name")})
    time_zone = forms.ChoiceField(
        label=_lazy("Time zone"),
        help_text=_lazy("Used for times on pages. The API always uses UTC."),
    )
    language = forms.ChoiceField(
        label=_lazy("Language"),
        required=False,
        help_text=_lazy("Used for pages, emails and notifications."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        zone: Any = self.fields["time_zone"]
        zone.choices = list_choices()
        language: Any = self.fields["language"]
        language.choices = [("", _lazy("Match browser")), *settings.LANGUAGES]
