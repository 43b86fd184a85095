"""The forms of the loop pages: a loop's fields and an invitation."""

from typing import Any

from django import forms

from accounts.emails import validate_address
from loops.admission import MAX_DOMAINS, InvalidDomain, clean_domains
from loops.comment_rule import MAX_LENGTH, MAX_OPTIONS, InvalidOptions, clean_options
from loops.icons import ICONS, get_symbol
from loops.models import Loop
from reviews.response_types.posted import read_lines, unify_newlines

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


class EditForm(LoopForm):
    """Also sets who may join, and which options need a comment."""

    joiners = forms.ChoiceField(
        label="Who can join with the link or code",
        choices=[
            ("confirmed", "People with a confirmed email address"),
            ("anyone", "Anyone"),
        ],
        required=False,
        widget=forms.RadioSelect,
        help_text="Current members stay.",
    )
    allowed_domains = forms.CharField(
        label="Only addresses at these domains may join",
        max_length=2000,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text=(
            "Separated by commas, such as example.com. Empty for all. Whoever you invite by email"
            " may join from any domain."
        ),
    )

    comment_required_for = forms.CharField(
        label="Options that need a comment",
        max_length=MAX_OPTIONS * (MAX_LENGTH + 2),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text=(
            "One option per line, such as Decline. Whoever chooses one of them has to write a"
            " comment. Other comments are optional."
        ),
    )

    def clean_allowed_domains(self) -> list[str]:
        typed = self.cleaned_data["allowed_domains"].replace(",", " ").split()
        try:
            return clean_domains(typed)
        except InvalidDomain:
            raise forms.ValidationError(
                f"Enter up to {MAX_DOMAINS} domains, such as example.com"
            ) from None

    def clean_comment_required_for(self) -> list[str]:
        typed = unify_newlines(self.cleaned_data["comment_required_for"])
        try:
            return clean_options(read_lines(typed))
        except InvalidOptions:
            raise forms.ValidationError(
                f"Enter up to {MAX_OPTIONS} options, each of up to {MAX_LENGTH} characters"
            ) from None

    def find_changes(self, loop: Loop) -> dict[str, Any]:
        """Returns the fields that differ from the loop; one that was not sent stays."""
        fields = {name: self.cleaned_data[name] for name in ("name", "description", "icon")}
        if self.cleaned_data["joiners"]:
            fields["require_verified"] = self.cleaned_data["joiners"] == "confirmed"
        for name in ("allowed_domains", "comment_required_for"):
            if name in self.data:
                fields[name] = self.cleaned_data[name]
        return {name: value for name, value in fields.items() if value != getattr(loop, name)}

    @staticmethod
    def build_initial(loop: Loop) -> dict[str, str]:
        """Returns the loop's fields as the form shows them."""
        return {
            "name": loop.name,
            "description": loop.description,
            "icon": loop.icon,
            "joiners": "confirmed" if loop.require_verified else "anyone",
            "allowed_domains": ", ".join(loop.allowed_domains),
            "comment_required_for": "\n".join(loop.comment_required_for),
        }


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
