"""The form of a new request, which builds the body that a program would send to the API.

The API's own checks apply (`RequestInput`); each of its errors is shown beside its field.
"""

import re
from collections.abc import Callable
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
    build_number_field,
    build_rows,
    build_setting_fields,
    list_types,
    read_setting_number,
)
from dashboard.forms.policy import PolicyForm, name_field
from dashboard.forms.request_body import (
    build_response_fields,
    choose_reader,
    read_objects,
    read_seconds,
)
from dashboard.loop_choices import LoopSelect, format_choices
from loops.models import Loop
from reviews import services
from reviews.models import Request
from reviews.response_types import TYPES, InvalidAnswer
from reviews.response_types.posted import Unreadable, read_number, unify_newlines
from web.languages import decimal_mark, translate
from web.languages import gettext_lazy as _lazy
from web.pasted import trim
from web.strict_json import InvalidJSON, parse_object
from web.url_fields import UrlField

UNIT_NAMES = [
    ("seconds", _lazy("Seconds")),
    ("minutes", _lazy("Minutes")),
    ("hours", _lazy("Hours")),
]
_SCHEMA = '{"type": "object", "properties": {"amount": {"type": "number"}}}'
_OPTION = re.compile(r"options\[(\d+)\]")


class NewRequestForm(PolicyForm):
    """A new request, in fields with the names of the API.

    Fields that the chosen types do not use are ignored, and so is the policy if the chosen loop
    has one. `original` is the id of the request that the form was filled from, and that may be
    replaced.
    """

    loop = forms.ChoiceField(
        label=_lazy("Loop"), widget=LoopSelect, error_messages={"required": _lazy("Choose a loop")}
    )
    replaces = forms.BooleanField(
        label=_lazy("This is the next version of that request"),
        required=False,
        help_text=_lazy(
            "If the original is still open, it’s cancelled, and whoever has it open is led to the "
            "new one."
        ),
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

    def __init__(
        self, data: Any = None, *, loops: list[Loop], original: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(data, **kwargs)
        self.loops, self.original = loops, original
        field_choices: dict[str, Any] = {
            "loop": format_choices(loops),
            "response_type": [(kind.name, translate(kind.label)) for kind in list_types()],
        }
        for name, pairs in field_choices.items():
            field: Any = self.fields[name]
            field.choices = pairs
        loop_select: Any = self.fields["loop"].widget
        loop_select.with_policy = {loop.pk for loop in loops if loop.policy}
        self.fields |= build_setting_fields()

    def setting_rows(self) -> list[tuple[Row, list[forms.BoundField]]]:
        """Returns the fields that depend on the response type, row by row."""
        return [(row, [self[name] for name in row.fields]) for row in build_rows()]

    def without_errors(self) -> "NewRequestForm":
        """Returns a copy with the same values and no errors."""
        typed = {name: self[name].value() for name in self.fields}
        return NewRequestForm(loops=self.loops, original=self.original, initial=typed)

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
            body["timeout_seconds"] = read_seconds(typed["timeout"], typed["timeout_unit"])
        body |= build_response_fields(typed)
        body["platform"] = "web_portal"
        if trim(typed["callback_url"]):
            body["callback_url"] = trim(typed["callback_url"])
        policy = None if self.has_loop_policy() else self.build_policy(choose_reader(typed))
        if policy is not None:
            body["policy"] = policy
        if self.original and typed["replaces"]:
            body["replaces"] = self.original
        return body | read_objects(typed, "context", "metadata")

    def has_loop_policy(self) -> bool:
        """Tells whether the chosen loop has a policy for all its requests."""
        chosen = self["loop"].value()
        return any(loop.pk == chosen and loop.policy for loop in self.loops)

    def add_refusal(self, error: services.Refused) -> None:
        """Shows why the loop does not take the request, beside the field that can be changed."""
        place = "loop"
        if isinstance(error, services.CannotReplace):
            place = "replaces"
        elif isinstance(error, services.TooFewPeople) and not self.has_loop_policy():
            place = "policy_answers"
        self.add_error(place, self.explain(error.args[0]))

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
        return self.find_place(name), self.explain(detail) or error.sentence

    def name_value(self, value: Any) -> Any:
        option = _OPTION.match(value) if isinstance(value, str) else None
        if option:
            return _("Option %(number)s") % {"number": int(option[1]) + 1}
        return super().name_value(value)


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
