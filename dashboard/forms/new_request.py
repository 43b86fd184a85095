"""The form of a new request, which builds the body that a program would send to the API.

The API's own checks apply (`RequestInput`); each of its errors is shown beside its field.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from django import forms
from django.utils.translation import gettext as _

from api.errors import (
    ApiError,
    ImageUrlRequired,
    RequestTextRequired,
    TimeoutRequired,
)
from api.serializers.requests import RequestInput
from dashboard.forms.answer_settings import (
    Row,
    build_config,
    build_number_field,
    build_rows,
    build_setting_fields,
    list_types,
    read_setting_number,
)
from dashboard.loop_choices import format_choices
from loops.models import Loop
from reviews.models import Request
from reviews.response_types import TYPES, InvalidAnswer, ResponseType
from reviews.response_types.decimals import to_decimal, to_json_number
from reviews.response_types.posted import Unreadable, read_number, unify_newlines
from web.languages import decimal_mark, translate
from web.languages import gettext_lazy as _lazy
from web.pasted import trim
from web.phrases import Phrase, say
from web.strict_json import InvalidJSON, parse_object
from web.url_fields import UrlField

UNITS = {"seconds": 1, "minutes": 60, "hours": 3600}
UNIT_NAMES = [
    ("seconds", _lazy("Seconds")),
    ("minutes", _lazy("Minutes")),
    ("hours", _lazy("Hours")),
]
_SCHEMA = '{"type": "object", "properties": {"amount": {"type": "number"}}}'
_OPTION = re.compile(r"options\[(\d+)\]")
_PART = re.compile(r"[.\[]")


class NewRequestForm(forms.Form):
    """Fields have the names of the API. Fields that the chosen types do not use are ignored."""

    loop = forms.ChoiceField(
        label=_lazy("Loop"), error_messages={"required": _lazy("Choose a loop")}
    )
    type = forms.ChoiceField(
        label=_lazy("Content"),
        choices=[("markdown", _lazy("Text")), ("image", _lazy("Text and image"))],
        initial="markdown",
        widget=forms.RadioSelect,
    )
    request_text = forms.CharField(
        label=_lazy("Question"),
        required=False,
        strip=False,
        widget=forms.Textarea({"rows": 5}),
        help_text=_lazy("Markdown, up to 2,000 characters."),
    )
    image_url = UrlField(
        label=_lazy("Image URL"), required=False, widget=forms.TextInput({"inputmode": "url"})
    )
    priority = forms.ChoiceField(
        label=_lazy("Priority"), choices=list(reversed(Request.Priority.choices)), initial="medium"
    )
    processing_type = forms.ChoiceField(
        label=_lazy("Deadline"),
        choices=[
            ("time-sensitive", _lazy("Within a set time")),
            ("deferred", _lazy("Within 30 days")),
        ],
        initial="time-sensitive",
        widget=forms.RadioSelect,
    )
    timeout = build_number_field(_lazy("Answer within"), initial="60")
    timeout_unit = forms.ChoiceField(
        label=_lazy("Unit"), choices=UNIT_NAMES, initial="minutes", required=False
    )
    response_type = forms.ChoiceField(
        label=_lazy("Answer"), initial="single_select", widget=forms.RadioSelect
    )
    required = forms.BooleanField(label=_lazy("Answer required"), required=False, initial=True)
    default_response = forms.CharField(
        label=_lazy("Default response"),
        required=False,
        strip=False,
        widget=forms.Textarea({"rows": 2}),
        help_text=_lazy(
            "Used if nobody answers in time. For several options, one per line; for a form, a JSON "
            "object."
        ),
    )
    callback_url = UrlField(
        label=_lazy("Callback URL"),
        required=False,
        widget=forms.TextInput({"inputmode": "url"}),
        help_text=_lazy("We send status updates to this URL."),
    )
    context = forms.CharField(
        label=_lazy("Context"),
        required=False,
        widget=forms.Textarea({"rows": 4, "spellcheck": "false"}),
        help_text=_lazy("A JSON object that reviewers see as a list."),
    )
    metadata = forms.CharField(
        label=_lazy("Metadata"),
        required=False,
        widget=forms.Textarea({"rows": 3, "spellcheck": "false"}),
        help_text=_lazy("A JSON object of texts for your programs. Reviewers don’t see it."),
    )
    once = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, data: Any = None, *, loops: list[Loop], **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        self.loops = loops
        field_choices: dict[str, Any] = {
            "loop": format_choices(loops),
            "response_type": [(kind.name, translate(kind.label)) for kind in list_types()],
        }
        for name, pairs in field_choices.items():
            field: Any = self.fields[name]
            field.choices = pairs
        self.fields |= build_setting_fields()

    def setting_rows(self) -> list[tuple[Row, list[forms.BoundField]]]:
        """Returns the fields that depend on the response type, row by row."""
        return [(row, [self[name] for name in row.fields]) for row in build_rows()]

    def without_errors(self) -> "NewRequestForm":
        """Returns a copy with the same values and no errors."""
        typed = {name: self[name].value() for name in self.fields}
        return NewRequestForm(loops=self.loops, initial=typed)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            self.check_numbers(cleaned)
            self.check_objects(cleaned)
        if not self.errors:
            try:
                cleaned["fields"] = RequestInput().check(self.build_body())
            except ApiError as error:
                self.add_error(*self.locate_error(error))
        return cleaned

    def check_numbers(self, typed: dict[str, Any]) -> None:
        """Adds an error to each field whose number is ambiguous or has too many digits."""
        kind = TYPES.get(typed["response_type"])
        readers: dict[str, Callable[[str], object]] = {}
        if typed["processing_type"] == "time-sensitive":
            readers["timeout"] = partial(read_number, point=decimal_mark())
        if kind:
            numbers = [each for each in kind.settings if each.kind == "number"]
            readers |= {each.name: partial(read_setting_number, each) for each in numbers}
            readers["default_response"] = partial(kind.read_default, point=decimal_mark())
        for name, read in readers.items():
            try:
                read(typed[name])
            except Unreadable:
                pass  # the API's check names the allowed values
            except InvalidAnswer as error:
                self.add_error(name, translate(error.args[0]))

    def check_objects(self, typed: dict[str, Any]) -> None:
        """Adds an error to each field of the response type that is not the JSON object it takes."""
        kind = TYPES.get(typed["response_type"])
        if kind is None:
            return
        examples = {each.name: _SCHEMA for each in kind.settings if each.kind == "object"}
        if kind.is_object:
            examples["default_response"] = '{"amount": 0}'
        for name, example in examples.items():
            try:
                check_object(typed[name], example=example)
            except forms.ValidationError as error:
                self.add_error(name, error)

    def clean_context(self) -> str:
        return check_object(self.cleaned_data["context"], example='{"order": 4821}')

    def clean_metadata(self) -> str:
        return check_object(self.cleaned_data["metadata"], example='{"order": "4821"}')

    def build_body(self) -> dict[str, Any]:
        """Builds the body that a program would send, from valid or invalid values."""
        typed = {name: self[name].value() or "" for name in self.fields}
        body: dict[str, Any] = {
            "processing_type": typed["processing_type"],
            "type": typed["type"],
            "priority": typed["priority"],
            "request_text": unify_newlines(typed["request_text"]),
        }
        if typed["type"] == "image" and trim(typed["image_url"]):
            body["image_url"] = trim(typed["image_url"])
        if typed["processing_type"] == "time-sensitive" and typed["timeout"].strip():
            body["timeout_seconds"] = _read_seconds(typed["timeout"], typed["timeout_unit"])
        body |= _build_response_fields(typed)
        body["platform"] = "web_portal"
        if trim(typed["callback_url"]):
            body["callback_url"] = trim(typed["callback_url"])
        return body | _read_objects(typed, "context", "metadata")

    def locate_error(self, error: ApiError) -> tuple[str | None, str]:
        """Returns the field that an error belongs to, None for the whole form, and its sentence."""
        detail = error.detail if isinstance(error.detail, str) else ""
        name = name_field(detail)
        if isinstance(error, TimeoutRequired) or detail.startswith("timeout_seconds"):
            return "timeout", _("Enter a time between one minute and one day")
        if isinstance(error, RequestTextRequired):
            return "request_text", _("Enter the question")
        if isinstance(error, ImageUrlRequired):
            return "image_url", _("Enter the URL of the image")
        if detail.startswith("options array"):
            return "options", _("Enter at least one option")
        place = _PART.split(name)[0]
        return place if place in self.fields else None, self.explain(detail) or error.sentence

    def explain(self, detail: str) -> str:
        """Translates an error's detail, with the labels of this form for the API's names."""
        if not isinstance(detail, Phrase):  # of a response type that has no phrases
            name, blank, rest = detail.partition(" ")
            return f"{self.name_value(name)}{blank}{rest}"
        named = {name: self.name_value(value) for name, value in detail.values.items()}
        return translate(say(detail.template, **named))

    def name_value(self, value: Any) -> Any:
        """Returns the label of a field's name, and any other value unchanged."""
        if not isinstance(value, str):
            return value
        option = _OPTION.match(value)
        if option:
            return _("Option %(number)s") % {"number": int(option[1]) + 1}
        return self.fields[value].label if value in self.fields else value


def check_object(typed: str, *, example: str) -> str:
    """Returns what was typed, without spaces around it. Raises ValidationError."""
    typed = typed.strip()
    if typed:
        try:
            parse_object(typed.encode(errors="replace"))
        except InvalidJSON as error:
            sentence = _("Enter a JSON object, such as %(example)s")
            if error.line is not None:
                sentence = _("Line %(line)s is not JSON. Enter an object, such as %(example)s")
            values = {"line": error.line, "example": example}
            raise forms.ValidationError(sentence % values) from None
    return typed


def name_field(detail: str) -> str:
    """Returns the first word of an error's detail, which is the API's name of the field."""
    if isinstance(detail, Phrase):
        return str(detail.values.get("field", ""))
    return detail.partition(" ")[0]


def _build_response_fields(typed: dict[str, Any]) -> dict[str, Any]:
    """Builds the fields about the response. Passes an unknown type on; the API rejects it."""
    name, default = typed["response_type"], unify_newlines(typed["default_response"])
    kind = TYPES.get(name)
    return {
        "response_type": name,
        "response_config": build_config(kind, typed) if kind else {},
        "default_response": _read_default(kind, default) if kind else default,
    }


def _read_default(kind: ResponseType, typed: str) -> Any:
    if kind.is_object:
        with suppress(InvalidJSON):
            return parse_object((typed.strip() or "{}").encode(errors="replace"))
    try:
        read = kind.read_default(typed, point=decimal_mark())
    except InvalidAnswer:
        return typed.strip()
    return "" if read is None else read


def _read_seconds(typed: str, unit: str) -> Any:
    """Returns the seconds, or the text itself if it is no number."""
    try:
        number = read_number(typed, point=decimal_mark())
    except InvalidAnswer:
        return typed.strip()
    seconds = to_decimal(number or 0) * UNITS.get(unit, 60)
    return to_json_number(float(seconds))


def _read_objects(typed: dict[str, Any], *names: str) -> dict[str, Any]:
    """Returns the fields that are JSON objects, as far as they can be read."""
    objects = {}
    for name in names:
        with suppress(InvalidJSON):
            if typed[name].strip():
                objects[name] = parse_object(typed[name].encode(errors="replace"))
    return objects
