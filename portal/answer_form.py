"""The form in which a reviewer answers a request."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from django.utils import timezone

from portal import grant_form
from portal.grant_form import GrantFields
from portal.posted import NOTHING, Posted
from reviews import comments
from reviews.models import Request
from reviews.proposal_table import Row, build_with
from reviews.response_types import get_response_type
from reviews.response_types.approval.form import ApprovalForm
from reviews.response_types.base import ANSWER, Page
from reviews.response_types.widgets import Widget
from web.languages import decimal_mark


@dataclass(frozen=True, slots=True)
class CommentField:
    """The field for a comment. `rule` names the options that need one; '' for none.

    `demanding` are their values as JSON, for the page's script.
    """

    typed: str
    error: str
    rule: str
    demanding: str
    longest: int = comments.MAX_LENGTH

    @property
    def is_open(self) -> bool:
        return bool(self.typed or self.error)


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """The field for an answer, the error of the posted value, and the field for a comment.

    `changes` are the arguments of a proposal that the posted values change, and `grant` the fields
    that allow equal calls for a while.
    """

    widget: Widget
    error: str
    comment: CommentField
    changes: list[Row]
    grant: GrantFields | None = None

    @property
    def template(self) -> str:
        """The template of the widget. Rendering raises if this kind has none."""
        return f"portal/widgets/{self.widget.kind}.html"

    @property
    def described_by(self) -> str:
        """The ids of the field's rule and error, for assistive technology."""
        ids = (("answer-rule", self.widget.rule), ("answer-error", self.error))
        return " ".join(name for name, text in ids if text)


def read_page() -> Page:
    """Returns the decimal mark and the time zone in which the person types on this page."""
    return Page(decimal_mark(), timezone.get_current_timezone())


def build(
    request: Request,
    posted: Posted = NOTHING,
    *,
    errors: Mapping[str, str] | None = None,
    comment_error: str = "",
) -> AnswerForm:
    """Builds the form of the request, with the posted values and the errors of its fields."""
    errors = errors or {}
    widget = get_response_type(request.response_type).build_form(
        request.response_config, posted.answer, read_page(), errors
    )
    comment = build_comment(request, posted.comment, comment_error)
    return AnswerForm(
        widget,
        errors.get(ANSWER, ""),
        comment,
        list_changes(request, widget),
        grant_form.build(request),
    )


def build_comment(request: Request, typed: str, error: str) -> CommentField:
    """Builds the field for a comment on the request."""
    demanding = comments.find_options_needing_comment(request)
    return CommentField(
        typed=typed,
        error=error,
        rule=comments.join_labels(demanding.values()),
        demanding=json.dumps(list(demanding)),
    )


def list_changes(request: Request, widget: Widget) -> list[Row]:
    """Lists what the posted values change about a proposal, once they are valid."""
    if not isinstance(widget, ApprovalForm) or widget.changed is None:
        return []
    return build_with(request.response_config, widget.changed).changed_rows


def format_draft(request: Request, posted: Posted) -> str:
    """Formats the posted values, valid or not, for people; '' for none."""
    kind = get_response_type(request.response_type)
    return posted.format_draft(kind.format_typed(request.response_config, posted.answer))
