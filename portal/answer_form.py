"""The form in which a reviewer answers a request."""

from collections.abc import Sequence
from dataclasses import dataclass

from reviews.models import Request
from reviews.response_types import get_response_type
from reviews.response_types.widgets import Widget


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """The field for an answer, and what is wrong with what was typed into it."""

    widget: Widget
    error: str

    @property
    def template(self) -> str:
        """Draws the widget; rendering raises where there is none for a widget of this kind."""
        return f"portal/widgets/{self.widget.kind}.html"

    @property
    def described_by(self) -> str:
        """The ids of what belongs to the field, for assistive technology."""
        ids = (("answer-rule", self.widget.rule), ("answer-error", self.error))
        return " ".join(name for name, text in ids if text)


def build(request: Request, typed: Sequence[str] = (), error: str = "") -> AnswerForm:
    """The form of the request, with what was typed and what was wrong with it."""
    kind = get_response_type(request.response_type)
    return AnswerForm(kind.build_widget(request.response_config, list(typed)), error)


def draft_in_words(request: Request, typed: Sequence[str]) -> str:
    """What a form posted, as people read it; it may be no answer at all. '' for nothing."""
    return request.format_answer(list(typed)) if any(typed) else ""
