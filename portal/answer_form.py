"""The form in which a reviewer answers a request."""

from collections.abc import Sequence
from dataclasses import dataclass

from reviews.models import Request
from reviews.response_types import get_response_type
from reviews.response_types.widgets import Widget


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """The field for an answer, and the error of the posted value."""

    widget: Widget
    error: str

    @property
    def template(self) -> str:
        """The template of the widget. Rendering raises if this kind has none."""
        return f"portal/widgets/{self.widget.kind}.html"

    @property
    def described_by(self) -> str:
        """The ids of the field's rule and error, for assistive technology."""
        ids = (("answer-rule", self.widget.rule), ("answer-error", self.error))
        return " ".join(name for name, text in ids if text)


def build(request: Request, typed: Sequence[str] = (), error: str = "") -> AnswerForm:
    """Builds the form of the request, with the posted values and their error."""
    kind = get_response_type(request.response_type)
    return AnswerForm(kind.build_widget(request.response_config, list(typed)), error)


def format_draft(request: Request, typed: Sequence[str]) -> str:
    """Formats the posted values, valid or not, for people; '' for none."""
    return request.format_answer(list(typed)) if any(typed) else ""
