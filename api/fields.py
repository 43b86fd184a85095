"""Strict serializer fields for the bodies that clients send.

Types are not converted (`"5"` is no integer, `true` is no number, `5` is no string), and strings
are not trimmed. Null counts as left out, as '' does for a URL and {} for pairs, and unknown fields
are ignored.
Fields are checked in the order of their declaration, and the first error is reported.
"""

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

from rest_framework import serializers

from api.errors import ApiError, ValidationFailed
from db.ids import normalize_id
from db.times import iso
from reviews.models.metadata import MAX_KEY, MAX_PAIRS, MAX_VALUE
from web.phrases import say
from web.web_urls import MAX_URL_LENGTH, is_web_url


class InvalidValue(ValueError):
    """A value that breaks its field's rule. Forms of the dashboard translate the message.

    The argument is a phrase that names the field.
    """


class StrictText(serializers.CharField):
    """A string of `shortest` to `longest` code points, not trimmed."""

    def __init__(self, *, longest: int, shortest: int = 0, **kwargs: Any) -> None:
        super().__init__(
            max_length=longest, trim_whitespace=False, allow_blank=not shortest, **kwargs
        )
        self.longest, self.shortest = longest, shortest

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if not isinstance(data, str):
            raise serializers.ValidationError("must be a string")
        if len(data) > self.longest or (self.shortest and not data.strip()):
            raise self._build_length_error()
        return data

    def _build_length_error(self) -> Exception:
        if not self.shortest:
            return serializers.ValidationError(f"must be at most {self.longest} characters")
        return InvalidValue(
            say(
                "%(field)s must be between %(least)s and %(most)s characters",
                field=self.field_name,
                least=self.shortest,
                most=self.longest,
            )
        )


class StrictChoice(serializers.ChoiceField):
    """One of the listed strings."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if not isinstance(data, str) or data not in self.choices:
            raise serializers.ValidationError(f"must be one of: {', '.join(self.choices)}")
        return data


class StrictInteger(serializers.IntegerField):
    """An integer within bounds; 60.0 passes as 60."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        whole = isinstance(data, int) or (isinstance(data, float) and data.is_integer())
        if isinstance(data, bool) or not whole or not self.min_value <= data <= self.max_value:
            raise serializers.ValidationError(
                f"must be an integer between {self.min_value} and {self.max_value}"
            )
        return int(data)


class StrictNumber(serializers.FloatField):
    """A number within bounds, not rounded."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        number = isinstance(data, int | float) and not isinstance(data, bool)
        if not number or not math.isfinite(data) or not self.min_value <= data <= self.max_value:
            raise serializers.ValidationError(
                f"must be a number between {self.min_value} and {self.max_value}"
            )
        return data


class StrictBoolean(serializers.BooleanField):
    """true or false; no other value is converted."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if not isinstance(data, bool):
            raise serializers.ValidationError("must be a boolean")
        return data


class StrictStrings(serializers.ListField):
    """A list of strings."""

    child = serializers.CharField()

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if not isinstance(data, list) or not all(isinstance(item, str) for item in data):
            raise serializers.ValidationError("must be an array of strings")
        return data


class JsonObject(serializers.DictField):
    """Any JSON object."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if not isinstance(data, dict):
            raise serializers.ValidationError("must be an object")
        return data


class StringPairs(serializers.DictField):
    """An object of at most MAX_PAIRS strings, with names of 1 to MAX_KEY code points."""

    child = serializers.CharField()

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if not isinstance(data, dict):
            raise serializers.ValidationError("must be an object")
        if len(data) > MAX_PAIRS:
            raise InvalidValue(
                say(
                    "%(field)s must have at most %(most)s entries",
                    field=self.field_name,
                    most=MAX_PAIRS,
                )
            )
        for name, value in data.items():
            if not 1 <= len(name) <= MAX_KEY:
                raise InvalidValue(
                    say(
                        "%(field)s must have names of 1 to %(most)s characters",
                        field=self.field_name,
                        most=MAX_KEY,
                    )
                )
            check_paired(f"{self.field_name}.{name}", value)
        return data


def check_paired(path: str, value: Any) -> None:
    """Checks a value of StringPairs. Raises InvalidValue."""
    if not isinstance(value, str):
        raise InvalidValue(say("%(field)s must be a string", field=path))
    if len(value) > MAX_VALUE:
        raise InvalidValue(
            say("%(field)s must be at most %(most)s characters", field=path, most=MAX_VALUE)
        )


class JsonValue(serializers.JSONField):
    """Any JSON value, null included; the rules for the value decide whether null is allowed."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        return data


class WebUrl(serializers.CharField):
    """An absolute http or https URL of at most 2048 characters; its host is not looked up."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if not isinstance(data, str):
            raise serializers.ValidationError("must be a string")
        if not is_web_url(data):
            raise InvalidValue(
                say(
                    "%(field)s must be an absolute http or https URL of at most"
                    " %(most)s characters",
                    field=self.field_name,
                    most=MAX_URL_LENGTH,
                )
            )
        return data


class RequestId(serializers.CharField):
    """The id of a request, in upper or lower case."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        request_id = normalize_id(data) if isinstance(data, str) else None
        if request_id is None:
            raise InvalidValue(say("%(field)s must be a request ID", field=self.field_name))
        return request_id


class Identifier(serializers.CharField):
    """An id in a response."""


class Timestamp(serializers.DateTimeField):
    """A time in a response."""

    def to_representation(self, value: Any) -> str:
        return iso(value)


class Input(serializers.Serializer[Any]):
    """A body that a client sends. `sentences` maps a field to the error when it is missing."""

    sentences: ClassVar[Mapping[str, type[ApiError]]] = {}

    def check(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Checks the known fields of `body` in order and returns them. Raises ApiError."""
        checked: dict[str, Any] = {}
        for name, field in self.bind_fields():
            value = body.get(name)
            null_allowed = name in body and isinstance(field, JsonValue)
            if not null_allowed and self.is_missing(field, value):
                self.on_missing(name, field, checked)
                continue
            try:
                checked[name] = field.run_validation(value)
            except InvalidValue as error:
                raise ValidationFailed(error.args[0]) from None
            except serializers.ValidationError as error:
                raise ValidationFailed(f"{name} {_first_message(error)}") from None
            self.on_value(name, checked)
        return checked

    @classmethod
    @cache
    def bind_fields(cls) -> list[tuple[str, Any]]:
        """Binds the fields once per class and returns them by name.

        Checks do not change the fields. A copy for each call would cost more than the rest of the
        call.
        """
        return list(cls().fields.items())

    def is_missing(self, field: Any, value: Any) -> bool:
        """Tells whether the value is null, blank in a required text, an empty URL or no pairs."""
        if isinstance(field, WebUrl):
            return value is None or value == ""
        if isinstance(field, StringPairs):
            return value is None or value == {}
        blank = isinstance(field, StrictText) and isinstance(value, str) and not value.strip()
        return value is None or (blank and field.required)

    def on_missing(self, name: str, field: Any, checked: dict[str, Any]) -> None:
        """Raises the error of a missing required field."""
        if field.required:
            raise self.build_missing_error(name)

    def build_missing_error(self, name: str) -> ApiError:
        """Builds the error of a missing field."""
        return self.sentences[name]() if name in self.sentences else build_required_error(name)

    def on_value(self, name: str, checked: dict[str, Any]) -> None:
        """A hook for rules that compare the value with earlier fields."""


def build_required_error(name: str) -> ValidationFailed:
    """Builds the error of a missing field that has no sentence of its own."""
    return ValidationFailed(say("%(field)s is required", field=name))


def _first_message(error: serializers.ValidationError) -> str:
    detail: Any = error.detail
    return str(detail[0])
