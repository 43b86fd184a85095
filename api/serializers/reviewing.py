"""Serializers of a reviewer's answer, and of requests as reviewers read them."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from api.errors import ValidationFailed
from api.fields import Input, JsonValue, StrictInteger, StrictStrings, StrictText
from api.serializers.requests import AnswerGiven, RequestDetail, RequestListed
from reviews.comments import MAX_LENGTH
from reviews.grants import MAX_HOURS, MAX_USES
from reviews.queries.for_reviewers import REVIEW_DETAIL, REVIEW_LISTED


class GrantInput(Input):
    """How long equal calls may run without asking, beside an approval."""

    hours = StrictInteger(min_value=1, max_value=MAX_HOURS)
    uses = StrictInteger(min_value=1, max_value=MAX_USES)
    arguments = StrictStrings(
        required=False, help_text="The arguments that have to be equal; without it all of them."
    )


class AnswerInput(Input):
    """The body of POST /review/requests/{id}/answer."""

    answer = JsonValue(help_text="The value that `response_data` will have.")
    comment = StrictText(longest=MAX_LENGTH, required=False)
    grant = GrantInput(required=False)

    def check(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Checks the known fields, those of `grant` too. Raises ApiError."""
        grant = body.get("grant")
        if grant is not None and not isinstance(grant, dict):
            raise ValidationFailed("grant must be an object")
        rest = {name: value for name, value in body.items() if name != "grant"}
        checked = super().check(rest)
        return checked if grant is None else {**checked, "grant": GrantInput().check(grant)}


class ReviewListed(RequestListed):
    """A request in a reviewer's list."""

    shape = REVIEW_LISTED

    def get_fields(self) -> dict[str, Any]:
        return {
            **super().get_fields(),
            "loop_name": serializers.CharField(),
            "may_answer": serializers.BooleanField(
                help_text="Nobody else is on it, and the policy asks you."
            ),
        }


class ReviewDetail(ReviewListed, RequestDetail):
    """A request as a reviewer reads it."""

    shape = REVIEW_DETAIL
    optional = REVIEW_DETAIL.optional

    def get_fields(self) -> dict[str, Any]:
        return {**super().get_fields(), "your_answer": AnswerGiven(allow_null=True)}
