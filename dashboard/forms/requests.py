"""The forms of the request pages: the filters of the list, and feedback on an answer."""

import csv
import json
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from api.errors import ApiError
from api.serializers.requests import FeedbackInput
from dashboard.forms.spans import SpanForm
from dashboard.loop_choices import format_choices
from loops.models import Loop
from reviews.models import Request
from reviews.models.metadata import MAX_KEY, MAX_VALUE
from reviews.queries.people import ASKED
from web.humanize import format_count

STATUSES = {
    "open": _lazy("Open"),
    "pending": _lazy("Pending"),
    "claimed": _lazy("Claimed"),
    "completed": _lazy("Completed"),
    "timeout": _lazy("Timed out"),
    "cancelled": _lazy("Cancelled"),
}
UNKNOWN = {"invalid_choice": _lazy("Choose one of these")}
STARS = [("", "–"), *((str(n), str(n)) for n in range(1, 6))]
YES_NO = [("", "–"), ("yes", _lazy("Yes")), ("no", _lazy("No"))]


class RequestFilterForm(SpanForm):
    """The filters of the list of requests, as the query of its URL."""

    q = forms.CharField(
        label=_lazy("Search"),
        required=False,
        max_length=200,
        widget=forms.SearchInput(attrs={"spellcheck": "false"}),
    )
    loop = forms.ChoiceField(label=_lazy("Loop"), required=False, error_messages=UNKNOWN)
    status = forms.ChoiceField(
        label=_lazy("Status"),
        required=False,
        choices=[("", _lazy("Every status")), *STATUSES.items()],
        error_messages=UNKNOWN,
    )
    priority = forms.ChoiceField(
        label=_lazy("Priority"),
        required=False,
        choices=[("", _lazy("Every priority")), *reversed(Request.Priority.choices)],
        error_messages=UNKNOWN,
    )
    person = forms.CharField(
        label=_lazy("Person"),
        required=False,
        max_length=200,
        widget=forms.TextInput({"autocomplete": "off", "spellcheck": "false"}),
    )
    role = forms.ChoiceField(
        label=_lazy("Who"),
        required=False,
        choices=[("", _lazy("Answered it")), (ASKED, _lazy("Was asked"))],
        error_messages=UNKNOWN,
    )
    metadata = forms.CharField(
        label=_lazy("Metadata"),
        required=False,
        strip=False,
        max_length=MAX_KEY + 1 + MAX_VALUE,
        widget=forms.TextInput(
            {"autocomplete": "off", "spellcheck": "false", "placeholder": "order=1042"}
        ),
    )

    def __init__(self, data: Any, *, loops: list[Loop], **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        field: Any = self.fields["loop"]
        field.choices = [("", _("Every loop")), *format_choices(loops)]

    def clean_metadata(self) -> str:
        """Returns the pair as `name=value`, or ''. A name with an equals sign is not found."""
        typed: str = self.cleaned_data["metadata"]
        name, equals, value = typed.partition("=")
        if not typed.strip():
            return ""
        if not (name and equals) or len(name) > MAX_KEY or len(value) > MAX_VALUE:
            raise forms.ValidationError(_("Write it as name=value, such as order=1042"))
        return typed

    @property
    def is_set(self) -> bool:
        return any(self[name].value() for name in self.fields if name != "role")

    @property
    def is_narrowed(self) -> bool:
        """Tells whether a filter other than the search text is set."""
        return any(self[name].value() for name in self.fields if name != "q")


CATEGORY_NAMES = {
    "positive": _lazy("Positive"),
    "constructive": _lazy("Constructive"),
    "issue": _lazy("Issue"),
}


class FeedbackForm(forms.Form):
    """Feedback on an answer (docs/contract.md, `feedback`); every field may stay empty."""

    rating = forms.ChoiceField(label=_lazy("Rating"), choices=STARS, required=False)
    accuracy = forms.ChoiceField(label=_lazy("Accuracy"), choices=STARS, required=False)
    timeliness = forms.ChoiceField(label=_lazy("Timeliness"), choices=STARS, required=False)
    helpfulness = forms.ChoiceField(label=_lazy("Helpfulness"), choices=STARS, required=False)
    category = forms.ChoiceField(
        label=_lazy("Category"),
        choices=[("", "–"), *CATEGORY_NAMES.items()],
        required=False,
    )
    would_recommend = forms.ChoiceField(
        label=_lazy("Would ask again"), choices=YES_NO, required=False
    )
    follow_up_needed = forms.ChoiceField(
        label=_lazy("Needs follow-up"), choices=YES_NO, required=False
    )
    tags = forms.CharField(
        label=_lazy("Tags"), required=False, max_length=500, help_text=_lazy("Separated by commas.")
    )
    comment = forms.CharField(
        label=_lazy("Comment"), required=False, strip=False, widget=forms.Textarea({"rows": 3})
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, value in self.initial.items():  # the API accepts others, such as 4.5
            choices: Any = getattr(self.fields.get(name), "choices", ())
            if choices and value not in dict(choices):
                self.fields[name].choices = [*choices, (value, value)]  # type: ignore[attr-defined]

    def build_feedback(self) -> dict[str, Any]:
        """Builds the feedback object of the API, without empty fields."""
        typed = self.cleaned_data
        numbers = ("rating", "accuracy", "timeliness", "helpfulness")
        feedback: dict[str, Any] = {
            name: json.loads(typed[name]) for name in numbers if typed[name]
        }
        feedback |= {
            name: typed[name] == "yes"
            for name in ("would_recommend", "follow_up_needed")
            if typed[name]
        }
        feedback |= {name: typed[name] for name in ("category", "comment") if typed[name].strip()}
        return feedback | ({"tags": tags} if (tags := read_tags(typed["tags"])) else {})

    def clean_comment(self) -> str:
        comment: str = self.cleaned_data["comment"].replace("\r\n", "\n")
        try:
            FeedbackInput().check({"feedback": {"comment": comment}})
        except ApiError:
            length = format_count(len(comment))
            raise forms.ValidationError(
                _("At most 1,000 characters; these are %(length)s") % {"length": length}
            ) from None
        return comment


def find_unknown_fields(feedback: dict[str, Any] | None) -> dict[str, Any]:
    """Returns the fields that only a program can send. The form leaves them unchanged."""
    known = FeedbackForm.base_fields
    return {name: value for name, value in (feedback or {}).items() if name not in known}


def build_initial(feedback: dict[str, Any] | None) -> dict[str, Any]:
    """Builds the form's initial values from the current feedback."""
    initial: dict[str, Any] = {}
    for name, value in (feedback or {}).items():
        if isinstance(value, bool):
            initial[name] = "yes" if value else "no"
        elif isinstance(value, list):
            initial[name] = ", ".join(map(write_tag, value))
        elif isinstance(value, float) and value.is_integer():
            initial[name] = str(int(value))
        elif value is not None:
            initial[name] = str(value)
    return initial


def write_tag(tag: object) -> str:
    """Writes a tag for the form, in quotes if it has a comma, as in CSV."""
    text = str(tag)
    is_plain = not {",", '"'} & set(text)
    return text if is_plain else '"' + text.replace('"', '""') + '"'


def read_tags(typed: str) -> list[str]:
    """Reads tags that are separated by commas; one with a comma is in quotes."""
    line = " ".join(typed.splitlines())
    tags = next(csv.reader([line], skipinitialspace=True))
    return [tag.strip() for tag in tags if tag.strip()]
