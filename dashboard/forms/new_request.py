"""What somebody types who asks in the dashboard, as the body that a program would send.

The rules are those of the API (`RequestInput`): its complaint is put beside the field that it is
about.
"""

import re
from typing import Any

from django import forms

from api.errors import (
    ApiError,
    ImageUrlRequired,
    InvalidDefaultResponse,
    RequestTextRequired,
    TimeoutRequired,
)
from api.serializers.requests import RequestInput
from dashboard.forms.answer_settings import (
    Row,
    configuration,
    number_input,
    offered_types,
    rows,
    setting_fields,
)
from dashboard.loop_choices import choices
from loops.models import Loop
from reviews.models import Request
from reviews.response_types import TYPES
from reviews.response_types.posted import read_json_number, unify_newlines
from web.strict_json import InvalidJSON, parse_object

UNITS = {"minutes": 60, "hours": 3600}
PLACES: dict[type[ApiError], str] = {
    ImageUrlRequired: "image_url",
    InvalidDefaultResponse: "default_response",
}
_OPTION = re.compile(r"options\[(\d+)\]\S* (.*)")


class QuestionForm(forms.Form):
    """Fields are named as in the API; those that the chosen types do not use are ignored."""

    loop = forms.ChoiceField(label="Loop", error_messages={"required": "Choose a loop"})
    type = forms.ChoiceField(
        label="Content",
        choices=[("markdown", "Text"), ("image", "Text and image")],
        initial="markdown",
        widget=forms.RadioSelect,
    )
    request_text = forms.CharField(
        label="Question",
        required=False,
        strip=False,
        widget=forms.Textarea({"rows": 5}),
        help_text="Markdown, up to 2,000 characters.",
    )
    image_url = forms.CharField(
        label="Image URL", required=False, widget=forms.TextInput({"inputmode": "url"})
    )
    priority = forms.ChoiceField(
        label="Priority", choices=list(reversed(Request.Priority.choices)), initial="medium"
    )
    processing_type = forms.ChoiceField(
        label="Deadline",
        choices=[("time-sensitive", "Within a set time"), ("deferred", "Within 30 days")],
        initial="time-sensitive",
        widget=forms.RadioSelect,
    )
    timeout = number_input("Answer within", initial="60")
    timeout_unit = forms.ChoiceField(
        label="Unit", choices=[(unit, unit.capitalize()) for unit in UNITS], required=False
    )
    response_type = forms.ChoiceField(
        label="Answer", initial="single_select", widget=forms.RadioSelect
    )
    required = forms.BooleanField(label="Answer required", required=False, initial=True)
    default_response = forms.CharField(
        label="Default response",
        required=False,
        strip=False,
        widget=forms.Textarea({"rows": 2}),
        help_text="Used if nobody answers in time. For several options, one per line.",
    )
    callback_url = forms.CharField(
        label="Callback URL",
        required=False,
        widget=forms.TextInput({"inputmode": "url"}),
        help_text="We send status updates to this URL.",
    )
    context = forms.CharField(
        label="Context",
        required=False,
        widget=forms.Textarea({"rows": 4, "spellcheck": "false"}),
        help_text="A JSON object that reviewers see as a list.",
    )
    once = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, data: Any = None, *, loops: list[Loop], **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        self.loops = loops
        offered: dict[str, Any] = {
            "loop": choices(loops),
            "response_type": [(kind.name, kind.label) for kind in offered_types()],
        }
        for name, its_choices in offered.items():
            field: Any = self.fields[name]
            field.choices = its_choices
        self.fields |= setting_fields()

    def setting_rows(self) -> list[tuple[Row, list[forms.BoundField]]]:
        """The fields that depend on the response type, as they stand on the page."""
        return [(row, [self[name] for name in row.fields]) for row in rows()]

    def unjudged(self) -> "QuestionForm":
        """The same with what was typed and no word about what is wrong with it."""
        typed = {name: self[name].value() for name in self.fields}
        return QuestionForm(loops=self.loops, initial=typed)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            try:
                cleaned["fields"] = RequestInput().check(self.body())
            except ApiError as error:
                self.add_error(*self.placed(error))
        return cleaned

    def clean_context(self) -> str:
        typed: str = self.cleaned_data["context"].strip()
        if typed:
            try:
                parse_object(typed.encode(errors="replace"))
            except InvalidJSON:
                sentence = 'Enter a JSON object, such as {"order": 4821}'
                raise forms.ValidationError(sentence) from None
        return typed

    def body(self) -> dict[str, Any]:
        """What a program would send, from what was typed, valid or not."""
        typed = {name: self[name].value() or "" for name in self.fields}
        body: dict[str, Any] = {
            "processing_type": typed["processing_type"],
            "type": typed["type"],
            "priority": typed["priority"],
            "request_text": unify_newlines(typed["request_text"]),
        }
        if typed["type"] == "image" and typed["image_url"].strip():
            body["image_url"] = typed["image_url"].strip()
        if typed["processing_type"] == "time-sensitive" and typed["timeout"].strip():
            body["timeout_seconds"] = seconds(typed["timeout"], typed["timeout_unit"])
        body |= _answer(typed)
        body["platform"] = "web_portal"
        if typed["callback_url"].strip():
            body["callback_url"] = typed["callback_url"].strip()
        return body | _context(typed["context"])

    def placed(self, error: ApiError) -> tuple[str | None, str]:
        """The field of a complaint, None for the form as a whole, and the sentence beside it."""
        detail = error.detail if isinstance(error.detail, str) else ""
        named, _, rest = detail.partition(" ")
        if isinstance(error, TimeoutRequired) or named == "timeout_seconds":
            return "timeout", "Enter a time between one minute and one day"
        if isinstance(error, RequestTextRequired):
            return "request_text", "Enter the question"
        if detail.startswith("options array"):
            return "options", "Enter at least one option"
        number_of = _OPTION.match(detail)
        if number_of:
            return "options", f"Option {int(number_of[1]) + 1} {number_of[2]}"
        if named in self.fields:
            return named, f"{self.fields[named].label} {rest}"
        return PLACES.get(type(error)), detail or error.sentence


def _answer(typed: dict[str, Any]) -> dict[str, Any]:
    """What is said about the answer; the type may be one that somebody made up."""
    name, default = typed["response_type"], unify_newlines(typed["default_response"])
    kind = TYPES.get(name)
    return {
        "response_type": name,
        "response_config": configuration(kind, typed) if kind else {},
        "default_response": kind.read_default(default) if kind else default,
    }


def seconds(typed: str, unit: str) -> Any:
    given = read_json_number(typed)
    return given if isinstance(given, str) else given * UNITS.get(unit, 60)


def _context(typed: str) -> dict[str, Any]:
    if not typed.strip():
        return {}
    try:
        return {"context": parse_object(typed.encode(errors="replace"))}
    except InvalidJSON:
        return {}
