"""The forms of the loop pages: a loop's fields and an invitation."""

from typing import Any

from django import forms

from accounts.emails import validate_address
from loops.icons import ICONS, get_symbol
from loops.models import Loop
from reviews.response_types.posted import unify_newlines

NAMES = {icon: icon.replace("-", " ").capitalize() for icon in ICONS}


class LoopForm(forms.Form):
    """A loop's name, description and icon. `current_icon` may be one that only the API accepts."""

    name = forms.CharField(
        label="Name",
        max_length=100,
        strip=False,
        error_messages={"required": "Give the loop a name"},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text="Reviewers see it above each question.",
    )
    description = forms.CharField(
        label="Description",
        max_length=500,
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="What reviewers decide here. Up to 500 characters.",
    )
    icon = forms.ChoiceField(
        label="Icon",
        choices=list(NAMES.items()),
        initial=ICONS[0],
        widget=forms.RadioSelect,
        error_messages={"required": "Choose an icon"},
    )
    once = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, current_icon: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if current_icon is not None and current_icon not in ICONS:
            choices = [(current_icon, f"Current ({current_icon[:30]})"), *NAMES.items()]
            icon: Any = self.fields["icon"]
            icon.choices = choices

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if not name.strip():
            raise forms.ValidationError("Give the loop a name")
        return name

    def clean_description(self) -> str:
        return unify_newlines(self.cleaned_data["description"])

    def icons(self) -> list[dict[str, str | bool]]:
        """Returns the icon choices as the template shows them."""
        chosen, field = self["icon"].value(), self.fields["icon"]
        choices: Any = getattr(field, "choices", ())
        return [
            {"value": value, "name": name, "symbol": get_symbol(value), "checked": value == chosen}
            for value, name in choices
        ]

    def find_changes(self, loop: Loop) -> dict[str, str]:
        """Returns the fields that differ from the loop."""
        fields = {name: self.cleaned_data[name] for name in ("name", "description", "icon")}
        return {name: value for name, value in fields.items() if value != getattr(loop, name)}


class InviteForm(forms.Form):
    """The email address of the person to invite."""

    email = forms.EmailField(
        label="Email address",
        max_length=254,
        validators=[validate_address],
        error_messages={
            "required": "Enter an email address",
            "invalid": "Enter a full email address",
        },
        widget=forms.EmailInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
