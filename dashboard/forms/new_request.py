"""What somebody types who asks in the dashboard, as the body that a program would send.

The rules are those of the API (`RequestInput`): its complaint is put beside the field that it is
about.
"""

import json
import re
from typing import Any

from django import forms

from api.errors import (
    ApiError,
    ImageUrlRequired,
    InvalidDefaultResponse,
    InvalidResponseConfiguration,
    RequestTextRequired,
    TimeoutRequired,
)
from api.serializers.requests import RequestInput
from dashboard.loop_choices import choices
from loops.models import Loop
from reviews.models import Request
from web.strict_json import InvalidJSON, parse_object

UNITS = {"minutes": 60, "hours": 3600}
RESPONSE_TYPES = {
    "single_select": "One option",
    "multi_select": "Several options",
    "rating": "Rating",
    "number": "Number",
    "text": "Text",
}
# What belongs to the configuration of each answer type, and how it is read.
CONFIGURATION: dict[str, tuple[str, ...]] = {
    "single_select": ("options",),
    "multi_select": ("options", "min_selections", "max_selections"),
    "rating": ("scale_min", "scale_max", "scale_step"),
    "number": ("min_value", "max_value", "decimal_places", "allow_negative"),
    "text": ("placeholder", "min_length", "max_length"),
}
PLACES: dict[type[ApiError], str] = {
    ImageUrlRequired: "image_url",
    InvalidDefaultResponse: "default_response",
    InvalidResponseConfiguration: "options",
}
LONGEST_NUMBER = 1000  # digits
_OPTION = re.compile(r"options\[(\d+)\]\S* (.*)")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?\Z")


def _number(label: str, **kwargs: Any) -> forms.CharField:
    attrs = {"inputmode": "decimal", "class": "number", "autocomplete": "off"}
    widget = forms.TextInput(attrs)
    return forms.CharField(label=label, required=False, max_length=30, widget=widget, **kwargs)


class QuestionForm(forms.Form):
    """Fields are named as in the API; those that the chosen types do not use are ignored."""

    loop = forms.ChoiceField(label="Loop", error_messages={"required": "Choose a loop"})
    type = forms.ChoiceField(
        label="Shows",
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
        choices=[("time-sensitive", "After a while"), ("deferred", "In 30 days")],
        initial="time-sensitive",
        widget=forms.RadioSelect,
    )
    timeout = _number("Answer within", initial="60")
    timeout_unit = forms.ChoiceField(
        label="Unit", choices=[(unit, unit.capitalize()) for unit in UNITS], required=False
    )
    response_type = forms.ChoiceField(
        label="Answer",
        choices=list(RESPONSE_TYPES.items()),
        initial="single_select",
        widget=forms.RadioSelect,
    )
    options = forms.CharField(
        label="Options",
        required=False,
        widget=forms.Textarea({"rows": 4}),
        help_text="One in each line. Behind a | stands what people read, before it what you get.",
    )
    min_selections = _number("At least")
    max_selections = _number("At most")
    scale_min = _number("From", initial="1")
    scale_max = _number("To", initial="5")
    scale_step = _number("In steps of", initial="1")
    min_value = _number("Smallest")
    max_value = _number("Largest")
    decimal_places = _number("Decimal places")
    allow_negative = forms.BooleanField(label="Negative numbers too", required=False)
    placeholder = forms.CharField(label="Placeholder", required=False, max_length=200)
    min_length = _number("Shortest, in characters")
    max_length = _number("Longest, in characters")
    required = forms.BooleanField(label="An answer must be given", required=False, initial=True)
    default_response = forms.CharField(
        label="Default response",
        required=False,
        strip=False,
        widget=forms.Textarea({"rows": 2}),
        help_text="Counts if nobody answers in time. Several options: one in each line.",
    )
    callback_url = forms.CharField(
        label="Callback URL",
        required=False,
        widget=forms.TextInput({"inputmode": "url"}),
        help_text="What becomes of the request is posted there.",
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
        field: Any = self.fields["loop"]
        field.choices = choices(loops)

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
                self.add_error(*placed(error))
        return cleaned

    def clean_context(self) -> str:
        typed: str = self.cleaned_data["context"].strip()
        if typed:
            try:
                parse_object(typed.encode(errors="replace"))
            except InvalidJSON:
                sentence = 'Type a JSON object, such as {"order": 4821}'
                raise forms.ValidationError(sentence) from None
        return typed

    def body(self) -> dict[str, Any]:
        """What a program would send, from what was typed, valid or not."""
        typed = {name: self[name].value() or "" for name in self.fields}
        body: dict[str, Any] = {
            "processing_type": typed["processing_type"],
            "type": typed["type"],
            "priority": typed["priority"],
            "request_text": _newlines(typed["request_text"]),
        }
        if typed["type"] == "image" and typed["image_url"].strip():
            body["image_url"] = typed["image_url"].strip()
        if typed["processing_type"] == "time-sensitive" and typed["timeout"].strip():
            body["timeout_seconds"] = seconds(typed["timeout"], typed["timeout_unit"])
        body["response_type"] = typed["response_type"]
        body["response_config"] = configuration(typed)
        body["default_response"] = default(typed)
        body["platform"] = "web_portal"
        if typed["callback_url"].strip():
            body["callback_url"] = typed["callback_url"].strip()
        return body | _context(typed["context"])


def configuration(typed: dict[str, Any]) -> dict[str, Any]:
    """The `response_config` of the chosen answer type; what was left empty is left out."""
    config: dict[str, Any] = {}
    for name in CONFIGURATION.get(typed["response_type"], ()):
        value = typed[name]
        if name == "options":
            config[name] = [option(line) for line in _lines(value)]
        elif name == "placeholder":
            config |= {name: value} if value else {}
        elif isinstance(value, bool) or value == "on":
            config[name] = True
        elif value.strip():
            config[name] = number(value)
    return config | {"required": bool(typed["required"])}


def option(line: str) -> str | dict[str, str]:
    value, bar, label = (part.strip() for part in line.partition("|"))
    return {"value": value, "label": label} if bar else value


def default(typed: dict[str, Any]) -> Any:
    """The default response in the type of the answer."""
    text, kind = _newlines(typed["default_response"]), typed["response_type"]
    if kind == "text":
        return text
    if kind == "multi_select":
        return _lines(text)
    return text.strip() if kind == "single_select" else number(text)


def number(typed: str) -> Any:
    """The JSON number that was typed; anything else stays a string, for the API to refuse."""
    text = typed.strip().replace(",", ".")
    is_number = len(text) <= LONGEST_NUMBER and _NUMBER.match(text)  # Python reads no longer ones
    return json.loads(text) if is_number else typed.strip()


def seconds(typed: str, unit: str) -> Any:
    given = number(typed)
    return given if isinstance(given, str) else given * UNITS.get(unit, 60)


def placed(error: ApiError) -> tuple[str | None, str]:
    """The field of a complaint, None for the form as a whole, and the sentence beside it."""
    detail = error.detail if isinstance(error.detail, str) else ""
    named, _, rest = detail.partition(" ")
    if isinstance(error, TimeoutRequired) or named == "timeout_seconds":
        return "timeout", "Type a time between a minute and a day"
    if isinstance(error, RequestTextRequired):
        return "request_text", "Type the question"
    if detail.startswith("options array"):
        return "options", "Type at least one option"
    number_of = _OPTION.match(detail)
    if number_of:
        return "options", f"Option {int(number_of[1]) + 1} {number_of[2]}"
    if named in QuestionForm.base_fields:
        return named, f"{QuestionForm.base_fields[named].label} {rest}"
    return PLACES.get(type(error)), detail or error.sentence


def _context(typed: str) -> dict[str, Any]:
    if not typed.strip():
        return {}
    try:
        return {"context": parse_object(typed.encode(errors="replace"))}
    except InvalidJSON:
        return {}


def _newlines(text: str) -> str:
    return text.replace("\r\n", "\n")


def _lines(text: str) -> list[str]:
    return [line.strip() for line in _newlines(text).split("\n") if line.strip()]
