"""The forms of the loop pages: a loop's fields and an invitation."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from accounts.emails import validate_address
from accounts.forms import AddressField
from dashboard.forms import policy
from dashboard.forms.days import DaysField
from dashboard.forms.policy import PolicyForm, name_field
from loops import retention
from loops.admission import MAX_DOMAINS, InvalidDomain, clean_domains
from loops.comment_rule import MAX_LENGTH, MAX_OPTIONS, InvalidOptions, clean_options
from loops.icons import ICONS, NAMES, get_symbol
from loops.models import Loop
from reviews.policy import InvalidPolicy
from reviews.response_types.policies import parse_for_loop
from reviews.response_types.posted import read_lines, unify_newlines
from web.languages import translate_lazy

LOOP_FIELDS = ("name", "description", "icon", "policy")
ICON_NAMES = [(icon, translate_lazy(name)) for icon, name in NAMES.items()]


class LoopForm(PolicyForm):
    """A loop's name, description, icon and policy.

    `current_icon` may be one that only the API accepts; `stored` is the policy that it has now.
    """

    name = forms.CharField(
        label=_lazy("Name"),
        max_length=100,
        strip=False,
        error_messages={"required": _lazy("Give the loop a name")},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text=_lazy("Reviewers see it above each question."),
    )
    description = forms.CharField(
        label=_lazy("Description"),
        max_length=500,
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_lazy("What reviewers decide here. Up to 500 characters."),
    )
    icon = forms.ChoiceField(
        label=_lazy("Icon"),
        choices=ICON_NAMES,
        initial=ICONS[0],
        widget=forms.RadioSelect,
        error_messages={"required": _lazy("Choose an icon")},
    )
    once = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(
        self,
        *args: Any,
        current_icon: str | None = None,
        stored: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.stored = stored
        if current_icon is not None and current_icon not in ICONS:
            choices = [
                (current_icon, _("Current (%(value)s)") % {"value": current_icon[:30]}),
                *ICON_NAMES,
            ]
            icon: Any = self.fields["icon"]
            icon.choices = choices

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if not name.strip():
            raise forms.ValidationError(_("Give the loop a name"))
        return name

    def clean_description(self) -> str:
        return unify_newlines(self.cleaned_data["description"])

    def clean(self) -> dict[str, Any]:
        """Adds the `policy`: the stored one if the form was sent without its fields."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if "policy_rule" not in self.data:
            return {**cleaned, "policy": self.stored}
        votes = {policy.write_vote(vote): vote for vote in (self.stored or {}).get("veto", ())}
        built = self.build_policy(
            lambda line: votes.get(line, policy.read_any_vote(line)), stored=self.stored
        )
        typed = unify_newlines(self["policy_veto"].value() or "")
        if built and typed == policy.build_initial(self.stored).get("policy_veto"):
            built["veto"] = (self.stored or built)["veto"]  # a veto may have lines
        try:
            cleaned["policy"] = built and parse_for_loop(built).store()
        except InvalidPolicy as error:
            if not self.errors:
                sentence = error.args[0]
                self.add_error(self.find_place(name_field(sentence)), self.explain(sentence))
        return cleaned

    def icons(self) -> list[dict[str, str | bool]]:
        """Returns the icon choices as the template shows them."""
        chosen, field = self["icon"].value(), self.fields["icon"]
        choices: Any = getattr(field, "choices", ())
        return [
            {"value": value, "name": name, "symbol": get_symbol(value), "checked": value == chosen}
            for value, name in choices
        ]


class EditForm(LoopForm):
    """Also sets who may join, which options need a comment, and whether calls may be allowed."""

    joiners = forms.ChoiceField(
        label=_lazy("Who can join with the link or code"),
        choices=[
            ("confirmed", _lazy("People with a confirmed email address")),
            ("anyone", _lazy("Anyone")),
        ],
        required=False,
        widget=forms.RadioSelect,
        help_text=_lazy("Current members stay."),
    )
    allowed_domains = forms.CharField(
        label=_lazy("Only addresses at these domains may join"),
        max_length=2000,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text=(
            _lazy(
                "Separated by commas, such as example.com. Empty for all. Whoever you invite by"
                " email"
                " may join from any domain."
            )
        ),
    )

    comment_required_for = forms.CharField(
        label=_lazy("Options that need a comment"),
        max_length=MAX_OPTIONS * (MAX_LENGTH + 2),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
        help_text=(
            _lazy(
                "One option per line, such as Decline. Whoever chooses one of them has to write a"
                " comment. Other comments are optional."
            )
        ),
    )

    grants = forms.ChoiceField(
        label=_lazy("Calls allowed for a while"),
        choices=[
            ("allowed", _lazy("Reviewers may allow equal calls for up to 8 hours")),
            ("forbidden", _lazy("Each call is approved by itself")),
        ],
        required=False,
        widget=forms.RadioSelect,
        help_text=_lazy(
            "Calls of high risk, and critical ones, are always approved by themselves."
        ),
    )

    keep_texts_days = DaysField(
        label=_lazy("Delete texts after"),
        help_text=_lazy(
            "Days after a request has ended. Question, image, context, comment and text answers"
            " go, and its webhooks. Choices, numbers and times stay."
        ),
    )
    keep_requests_days = DaysField(
        label=_lazy("Delete finished requests after"),
        help_text=_lazy("Days after they have ended. They go with their answers and feedback."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for kind, limit in retention.get_limits().items():
            self.fields[f"keep_{kind}_days"].set_limit(limit)  # type: ignore[attr-defined]

    def clean_allowed_domains(self) -> list[str]:
        typed = self.cleaned_data["allowed_domains"].replace(",", " ").split()
        try:
            return clean_domains(typed)
        except InvalidDomain:
            raise forms.ValidationError(
                _("Enter up to %(max_domains)s domains, such as example.com")
                % {"max_domains": MAX_DOMAINS}
            ) from None

    def clean_comment_required_for(self) -> list[str]:
        typed = unify_newlines(self.cleaned_data["comment_required_for"])
        try:
            return clean_options(read_lines(typed))
        except InvalidOptions:
            raise forms.ValidationError(
                _("Enter up to %(max_options)s options, each of up to %(max_length)s characters")
                % {"max_options": MAX_OPTIONS, "max_length": MAX_LENGTH}
            ) from None

    def find_changes(self, loop: Loop) -> dict[str, Any]:
        """Returns the fields that differ from the loop; fields that were not sent stay."""
        fields = {name: self.cleaned_data[name] for name in LOOP_FIELDS}
        if self.cleaned_data["joiners"]:
            fields["require_verified"] = self.cleaned_data["joiners"] == "confirmed"
        if self.cleaned_data["grants"]:
            fields["forbids_grants"] = self.cleaned_data["grants"] == "forbidden"
        for name in ("allowed_domains", "comment_required_for", *retention.COLUMNS):
            if name in self.data:
                fields[name] = self.cleaned_data[name]
        return {name: value for name, value in fields.items() if value != getattr(loop, name)}

    @staticmethod
    def build_initial(loop: Loop) -> dict[str, Any]:
        """Returns the loop's fields as the form shows them."""
        return {
            "name": loop.name,
            "description": loop.description,
            "icon": loop.icon,
            **policy.build_initial(loop.policy),
            "joiners": "confirmed" if loop.require_verified else "anyone",
            "grants": "forbidden" if loop.forbids_grants else "allowed",
            "allowed_domains": ", ".join(loop.allowed_domains),
            "comment_required_for": "\n".join(loop.comment_required_for),
            **{name: getattr(loop, name) for name in retention.COLUMNS},
        }


class InviteForm(forms.Form):
    """The email address of the person to invite."""

    email = AddressField(
        label=_lazy("Email address"),
        validators=[validate_address],
        error_messages={
            "required": _lazy("Enter an email address"),
            "invalid": _lazy("Enter a full email address"),
        },
        widget=forms.EmailInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
