"""The form of a new review token."""

from datetime import datetime, timedelta

from django import forms
from django.utils import timezone

from web.languages import gettext_lazy as _lazy

DAYS = {"1": _lazy("A day"), "7": _lazy("A week"), "30": _lazy("30 days"), "90": _lazy("90 days")}


class TokenForm(forms.Form):
    """A new token. `token` carries its secret, so that a form sent twice creates only one."""

    name = forms.CharField(
        label=_lazy("Name"),
        max_length=100,
        error_messages={"required": _lazy("Give the token a name")},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text=_lazy("For example “Terminal of my laptop”."),
    )
    days = forms.ChoiceField(
        label=_lazy("Valid for"),
        choices=list(DAYS.items()),
        initial="30",
        widget=forms.RadioSelect,
        error_messages={"required": _lazy("Choose how long the token is valid")},
    )
    token = forms.CharField(widget=forms.HiddenInput)

    @property
    def expires_at(self) -> datetime:
        """The end of a valid form's token."""
        return timezone.now() + timedelta(days=int(self.cleaned_data["days"]))
