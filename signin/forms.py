"""What people type about themselves, their keys and their secret."""

import unicodedata
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.http import HttpRequest
from django.utils import timezone

from accounts.actions import KINDS
from accounts.emails import validate_address
from accounts.sign_in_codes import DIGITS
from accounts.models import PERMISSIONS
from accounts.time_zones import choices
from accounts.webhook_secrets import LONGEST, SHORTEST, is_acceptable

MEANINGS = {
    "loops:read": "Read loops and members",
    "loops:write": "Create and change loops, remove members",
    "requests:read": "Read requests and answers",
    "requests:write": "Ask, cancel, and give feedback",
}
OVERLAPS = {"0": "Now", "1": "In 1 hour", "24": "In 24 hours", "168": "In 7 days"}
# The last day of the calendar is no moment any more in other zones, and cannot be read back.
LONGEST_LIFE = timedelta(days=36_525)
MOMENT = "%Y-%m-%dT%H:%M"


def name_field(**options: Any) -> forms.CharField:
    """How somebody is called."""
    return forms.CharField(
        label="Your name",
        max_length=100,
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
        help_text="Whoever asked sees it beside your answers.",
        **options,
    )


class SignupForm(forms.Form):
    """The field that sign-up asks for besides address and password."""

    name = name_field()
    field_order = ["name", "email", "password1"]

    def signup(self, request: HttpRequest, user: Any) -> None:
        """Called once the account exists; the adapter has stored the name."""


class AddressForm(forms.Form):
    """Where a code goes."""

    email = forms.EmailField(
        label="Email",
        max_length=254,
        validators=[validate_address],
        error_messages={"required": "Type your e-mail address"},
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )

    def clean_email(self) -> str:
        return str(self.cleaned_data["email"]).lower()


class NewcomerForm(AddressForm):
    """Where a code goes, and who will be new here."""

    name = name_field(error_messages={"required": "Type your name"})
    field_order = ["name", "email"]


class TypedCodeForm(forms.Form):
    """The code, however it was typed or pasted. `code` becomes its bare digits."""

    code = forms.CharField(
        label="Code",
        max_length=50,
        error_messages={"required": "Type the code from the mail"},
        widget=forms.TextInput(
            attrs={
                "autocomplete": "one-time-code",
                "inputmode": "numeric",
                "autofocus": True,
                "class": "code-field",
            }
        ),
    )

    def clean_code(self) -> str:
        typed = unicodedata.normalize("NFKC", self.cleaned_data["code"])
        digits = "".join(str(unicodedata.decimal(each)) for each in typed if each.isdecimal())
        if len(digits) != DIGITS:
            raise forms.ValidationError(f"The code has {DIGITS} digits")
        return digits


class ProfileForm(forms.Form):
    """Name and time zone."""

    name = name_field(error_messages={"required": "Type your name"})
    time_zone = forms.ChoiceField(
        label="Time zone", help_text="Pages show times in it. The API always speaks UTC."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        zone: Any = self.fields["time_zone"]
        zone.choices = choices()


class KeyForm(forms.Form):
    """A new key. `token` carries it, so that the form makes one however often it is sent."""

    name = forms.CharField(
        label="Name",
        max_length=100,
        error_messages={"required": "Give the key a name"},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text="What will use it, such as “Refund bot, production”.",
    )
    permissions = forms.MultipleChoiceField(
        label="Permissions",
        choices=[(each, f"{MEANINGS[each]} ({each})") for each in PERMISSIONS],
        initial=list(PERMISSIONS),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Writing does not include reading. Without any, a key can only test itself.",
    )
    expires_at = forms.DateTimeField(
        label="Expires",
        required=False,
        error_messages={"invalid": "Type a date and a time, such as 2027-03-31T18:00"},
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format=MOMENT),
    )
    token = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        zone = timezone.get_current_timezone_name()
        self.fields["expires_at"].help_text = f"Optional, in your time zone ({zone})."

    def clean_expires_at(self) -> datetime | None:
        moment: datetime | None = self.cleaned_data["expires_at"]
        if moment is not None and moment <= timezone.now():
            raise forms.ValidationError("That moment has passed: choose a later one")
        if moment is not None and moment - timezone.now() > LONGEST_LIFE:
            raise forms.ValidationError("That is more than 100 years: leave it empty instead")
        return moment


class RollForm(forms.Form):
    """How long the old key lives on beside the new one."""

    overlap = forms.ChoiceField(
        label="The old key stops working",
        choices=list(OVERLAPS.items()),
        initial="24",
        widget=forms.RadioSelect,
        error_messages={"required": "Choose when the old key ends"},
    )
    token = forms.CharField(widget=forms.HiddenInput)

    def clean_overlap(self) -> timedelta:
        return timedelta(hours=int(self.cleaned_data["overlap"]))


class TypedNameForm(forms.Form):
    """The name, typed, so that nobody ends a key by a slip."""

    typed = forms.CharField(
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
        error_messages={"required": "Type the name to go on"},
    )

    def __init__(self, *args: Any, name: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.name = name
        self.fields["typed"].label = f"Type “{name}” to go on"

    def clean_typed(self) -> str:
        typed: str = self.cleaned_data["typed"]
        if typed.split() != self.name.split():
            raise forms.ValidationError(f"That is not the name. It is: {self.name}")
        return typed


class SecretForm(forms.Form):
    """A secret of the holder's own."""

    secret = forms.CharField(
        label="Your secret",
        strip=False,
        error_messages={"required": "Type a secret"},
        widget=forms.TextInput(
            attrs={
                "autocomplete": "off",
                "autocapitalize": "none",
                "spellcheck": "false",
                "class": "mono",
            }
        ),
        help_text=f"{SHORTEST} to {LONGEST} characters, every blank counts. Not whsec_ in front:"
        " libraries would decode it.",
    )

    def clean_secret(self) -> str:
        text: str = self.cleaned_data["secret"]
        if not is_acceptable(text):
            raise forms.ValidationError(
                f"A secret has {SHORTEST} to {LONGEST} characters; this one has {len(text)}"
                if text.strip()
                else "A secret cannot be blank"
            )
        return text


class AuditFilterForm(forms.Form):
    """Which entries to list; it lives in the URL."""

    kind = forms.ChoiceField(label="About", required=False, choices=[("", "All"), *KINDS.items()])
    who = forms.ChoiceField(
        label="By",
        required=False,
        choices=[("", "Anybody"), ("me", "Me"), ("others", "Others")],
    )
    since = forms.DateField(
        label="From", required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    until = forms.DateField(
        label="To", required=False, widget=forms.DateInput(attrs={"type": "date"})
    )

    def clean(self) -> dict[str, Any]:
        found: dict[str, Any] = super().clean() or self.cleaned_data
        since, until = found.get("since"), found.get("until")
        if since and until and since > until:
            self.add_error("until", "This day comes before the first")
        return found
