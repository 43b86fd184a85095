"""The forms of the API key pages."""

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from accounts.models import PERMISSIONS
from web.bidi import isolate
from web.sanitize import is_same_name

MEANINGS = {
    "loops:read": _lazy("Read loops and members"),
    "loops:write": _lazy(
        "Create and change loops and webhook endpoints, which get all requests; remove members"
    ),
    "requests:read": _lazy("Read requests and answers"),
    "requests:write": _lazy("Ask, cancel, and give feedback"),
}


OVERLAPS = {
    "0": _lazy("Now"),
    "1": _lazy("In 1 hour"),
    "24": _lazy("In 24 hours"),
    "168": _lazy("In 7 days"),
}


# Datetimes near year 9999 overflow in other time zones and cannot be read back.
MAX_LIFETIME = timedelta(days=36_525)


MOMENT = "%Y-%m-%dT%H:%M"


class KeyForm(forms.Form):
    """A new key. `token` carries its secret, so that a form sent twice creates only one key."""

    name = forms.CharField(
        label=_lazy("Name"),
        max_length=100,
        error_messages={"required": _lazy("Give the key a name")},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text=_lazy("For example “Refund bot, production”."),
    )
    permissions = forms.MultipleChoiceField(
        label=_lazy("Permissions"),
        choices=[(each, format_lazy("{} ({})", MEANINGS[each], each)) for each in PERMISSIONS],
        initial=list(PERMISSIONS),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_lazy(
            "Write access doesn’t include read access. A key without permissions can only"
            " test itself."
        ),
    )
    expires_at = forms.DateTimeField(
        label=_lazy("Expires"),
        required=False,
        error_messages={"invalid": _lazy("Enter a date and time, such as 2027-03-31T18:00")},
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format=MOMENT),
    )
    token = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        zone = timezone.get_current_timezone_name()
        self.fields["expires_at"].help_text = _("Optional, in your time zone (%(zone)s).") % {
            "zone": zone
        }

    def clean_expires_at(self) -> datetime | None:
        moment: datetime | None = self.cleaned_data["expires_at"]
        if moment is not None and moment <= timezone.now():
            raise forms.ValidationError(_("Choose a time in the future"))
        if moment is not None and moment - timezone.now() > MAX_LIFETIME:
            raise forms.ValidationError(_("Choose a time within 100 years, or leave it empty"))
        return moment


class RollForm(forms.Form):
    """The time for which the old key stays valid together with the new one."""

    overlap = forms.ChoiceField(
        label=_lazy("The old key stops working"),
        choices=list(OVERLAPS.items()),
        initial="24",
        widget=forms.RadioSelect,
        error_messages={"required": _lazy("Choose when the old key ends")},
    )
    token = forms.CharField(widget=forms.HiddenInput)

    def clean_overlap(self) -> timedelta:
        return timedelta(hours=int(self.cleaned_data["overlap"]))


class TypedNameForm(forms.Form):
    """Asks for the key's name, as a protection against ending the wrong key."""

    typed = forms.CharField(
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
        error_messages={"required": _lazy("Enter the name to confirm")},
    )

    def __init__(self, *args: Any, name: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.name = name
        self.fields["typed"].label = _("Type “%(name)s” to confirm") % {"name": isolate(name)}

    def clean_typed(self) -> str:
        typed: str = self.cleaned_data["typed"]
        if not is_same_name(typed, self.name):
            raise forms.ValidationError(
                _("The name doesn’t match. It is: %(name)s") % {"name": isolate(self.name)}
            )
        return typed
