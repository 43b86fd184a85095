"""Serializers of a reviewer's answer, and of requests as reviewers read them."""

from typing import Any

from rest_framework import serializers

from api.fields import Input, JsonValue, StrictText
from api.serializers.requests import AnswerGiven, RequestDetail, RequestListed
from reviews.comments import MAX_LENGTH
from reviews.queries.for_reviewers import REVIEW_DETAIL, REVIEW_LISTED


class AnswerInput(Input):
    """The body of POST /review/requests/{id}/answer."""

    answer = JsonValue(help_text="The value that `response_data` will have.")
    comment = StrictText(longest=MAX_LENGTH, required=False)


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
