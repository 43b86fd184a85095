"""Checks new requests and feedback, and describes requests in responses for the schema."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

from rest_framework import serializers

from accounts.models import User
from api.errors import (
    ApiError,
    ImageUrlRequired,
    InvalidDefaultResponse,
    InvalidResponseConfiguration,
    RequestTextRequired,
    TimeoutRequired,
    ValidationFailed,
)
from api.fields import (
    Identifier,
    Input,
    JsonObject,
    JsonValue,
    RequestId,
    StrictBoolean,
    StrictChoice,
    StrictInteger,
    StrictNumber,
    StrictStrings,
    StrictText,
    StringPairs,
    Timestamp,
    WebUrl,
)
from api.serializers.policies import StoredPolicy
from reviews import representation
from reviews.models import CONTENT_TYPES, PLATFORMS, PRIORITIES, PROCESSING_TYPES, Request
from reviews.policy import InvalidPolicy, parse
from reviews.representation import Kind
from reviews.response_types import (
    InvalidConfiguration,
    InvalidDefault,
    ResponseType,
    get_response_type,
    list_names,
)
from reviews.response_types.policies import check_rule, check_veto
from web.strict_json import MAX_BYTES

CATEGORIES = ("positive", "constructive", "issue")


class ResponseTypeName(serializers.CharField):
    """The name of a registered response type."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if not isinstance(data, str) or data not in list_names():
            raise serializers.ValidationError(f"must be one of: {', '.join(list_names())}")
        return data


class RequestInput(Input):
    """The body of POST /api/loops/{loopId}/requests."""

    sentences = {"request_text": RequestTextRequired}

    processing_type = StrictChoice(choices=PROCESSING_TYPES)
    type = StrictChoice(choices=CONTENT_TYPES)
    priority = StrictChoice(choices=PRIORITIES)
    request_text = StrictText(shortest=1, longest=2000)
    image_url = WebUrl(
        required=False,
        help_text="Required when type is image. An empty string counts as left out.",
    )
    context = JsonObject(required=False)  # type: ignore[assignment]
    timeout_seconds = StrictInteger(
        min_value=60,
        max_value=86400,
        required=False,
        help_text="Required when processing_type is time-sensitive; else 30 days.",
    )
    response_type = ResponseTypeName()
    response_config = JsonObject(help_text="Depends on response_type.")
    default_response = JsonValue(help_text="The answer once the request has timed out.")
    platform = StrictChoice(choices=PLATFORMS)
    platform_version = StrictText(longest=MAX_BYTES, required=False)
    callback_url = WebUrl(
        required=False, help_text="Where events go. An empty string counts as left out."
    )
    metadata = StringPairs(required=False)
    policy = JsonObject(
        required=False,
        help_text="How many people answer, and what becomes of their answers. Without it the first"
        " answer of any member counts.",
    )
    replaces = RequestId(required=False)

    def on_missing(self, name: str, field: Any, checked: dict[str, Any]) -> None:
        super().on_missing(name, field, checked)
        error = find_conditional_error(name, checked)
        if error is not None:
            raise error

    def on_value(self, name: str, checked: dict[str, Any]) -> None:
        if name not in ("response_config", "default_response", "policy"):
            return
        kind, config = get_response_type(checked["response_type"]), checked["response_config"]
        if name == "policy":
            checked["policy"] = check_policy(checked["policy"], kind, config)
            return
        try:
            if name == "response_config":
                kind.check_configuration(config)
            else:
                kind.check_default(config, checked[name])
        except InvalidConfiguration as error:
            raise InvalidResponseConfiguration(error.args[0]) from None
        except InvalidDefault as error:
            raise InvalidDefaultResponse(error.args[0]) from None


def check_policy(
    fields: dict[str, Any], kind: ResponseType, config: dict[str, Any]
) -> dict[str, Any]:
    """Checks the policy of a request; returns it with all its fields. Raises ValidationFailed."""
    try:
        policy = parse(fields)
        check_rule(policy, kind)
        check_veto(policy, kind, config)
    except InvalidPolicy as error:
        raise ValidationFailed(error.args[0]) from None
    return policy.store()


def find_conditional_error(name: str, checked: dict[str, Any]) -> ApiError | None:
    """Returns the error of a missing field that earlier fields make required."""
    if name == "image_url" and checked["type"] == "image":
        return ImageUrlRequired()
    if name == "timeout_seconds" and checked["processing_type"] == "time-sensitive":
        return TimeoutRequired()
    return None


class FeedbackFields(Input):
    """The known fields of feedback; other fields are stored as sent."""

    rating = StrictNumber(min_value=1, max_value=5, required=False)
    comment = StrictText(longest=1000, required=False)
    accuracy = StrictNumber(min_value=1, max_value=5, required=False)
    timeliness = StrictNumber(min_value=1, max_value=5, required=False)
    helpfulness = StrictNumber(min_value=1, max_value=5, required=False)
    would_recommend = StrictBoolean(required=False)
    tags = StrictStrings(required=False)
    follow_up_needed = StrictBoolean(required=False)
    category = StrictChoice(choices=CATEGORIES, required=False)


class FeedbackInput(Input):
    """The body of POST /api/requests/{id}/feedback."""

    feedback = FeedbackFields()

    def check(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Checks the known fields and returns `{feedback: …}` as sent. Raises ApiError."""
        feedback = body.get("feedback")
        if feedback is None:
            raise self.build_missing_error("feedback")
        if not isinstance(feedback, dict):
            raise ValidationFailed("feedback must be an object")
        FeedbackFields().check(feedback)
        return {"feedback": feedback}


class Person(serializers.Serializer[User]):
    """The person who answered."""

    id = Identifier()
    name = serializers.CharField()
    email = serializers.EmailField()


class AnswerGiven(serializers.Serializer[Request]):
    """One person's answer to a request with a policy."""

    response_data = serializers.JSONField()
    response_comment = serializers.CharField(allow_null=True)
    response_by = Identifier()
    response_by_user = Person()
    response_at = Timestamp()


KINDS: dict[Kind, Callable[..., serializers.Field[Any, Any, Any, Any]]] = {
    Kind.ID: Identifier,
    Kind.TEXT: serializers.CharField,
    Kind.TIME: Timestamp,
    Kind.INTEGER: serializers.IntegerField,
    Kind.NUMBER: serializers.FloatField,
    Kind.JSON: serializers.JSONField,
    Kind.STRINGS_BY_NAME: StringPairs,
    Kind.PERSON: Person,
    Kind.POLICY: StoredPolicy,
    Kind.ANSWERS: partial(AnswerGiven, many=True),
}


class RequestListed(serializers.Serializer[Request]):
    """A request in a list."""

    shape: ClassVar = representation.LISTED

    def get_fields(self) -> dict[str, Any]:
        return {field.name: KINDS[field.kind](allow_null=field.null) for field in self.shape.fields}


class RequestDetail(RequestListed):
    """A request in a single read and in events."""

    shape = representation.DETAIL
    optional = representation.DETAIL.optional
