"""Strict fields for what clients send, and the serializer that reads them in order.

Types are strict (`"5"` is no integer, `true` is no number, `5` is no string), strings stay as
sent, null counts as left out, unknown fields are ignored, and the first fault in the order of
the fields is the one that is reported.
"""

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

from rest_framework import serializers

from api.errors import ApiError, ValidationFailed
from db.times import iso
from web.web_urls import MAX_URL_LENGTH, is_web_url


class StrictText(serializers.CharField):
    """A string of `shortest` to `longest` code points, kept as sent."""

    def __init__(self, *, longest: int, shortest: int = 0, **kwargs: Any) -> None:
        super().__init__(
            max_length=longest, trim_whitespace=False, allow_blank=not shortest, **kwargs
        )
        self.longest, self.shortest = longest, shortest

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if not isinstance(data, str):
            raise serializers.ValidationError("must be a string")
        if len(data) > self.longest or (self.shortest and not data.strip()):
            raise serializers.ValidationError(
                f"must be between {self.shortest} and {self.longest} characters"
                if self.shortest
                else f"must be at most {self.longest} characters"
            )
        return data


class StrictChoice(serializers.ChoiceField):
    """One of a few strings."""

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
    """A number within bounds, kept as sent."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        number = isinstance(data, int | float) and not isinstance(data, bool)
        if not number or not math.isfinite(data) or not self.min_value <= data <= self.max_value:
            raise serializers.ValidationError(
                f"must be a number between {self.min_value} and {self.max_value}"
            )
        return data


class StrictBoolean(serializers.BooleanField):
    """true or false, nothing that resembles them."""

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


class JsonValue(serializers.JSONField):
    """Any JSON value; null counts as one, and whoever judges the value refuses it."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        return data


class WebUrl(serializers.URLField):
    """An absolute http or https URL of at most 2048 characters; it is not resolved."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if not isinstance(data, str):
            raise serializers.ValidationError("must be a string")
        if not is_web_url(data):
            raise serializers.ValidationError(
                f"must be an absolute http or https URL of at most {MAX_URL_LENGTH} characters"
            )
        return data


class Identifier(serializers.CharField):
    """An id on its way out."""


class Timestamp(serializers.DateTimeField):
    """A time on its way out."""

    def to_representation(self, value: Any) -> str:
        return iso(value)


class Input(serializers.Serializer[Any]):
    """What a client sends. `sentences` maps a field to the error of its absence."""

    sentences: ClassVar[Mapping[str, type[ApiError]]] = {}

    def check(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The known fields that `body` carries, checked in order. Raises ApiError."""
        checked: dict[str, Any] = {}
        for name, field in self.bound_fields():
            value = body.get(name)
            spoken = name in body and isinstance(field, JsonValue)
            if not spoken and self.is_missing(field, value):
                self.on_missing(name, field, checked)
                continue
            try:
                checked[name] = field.run_validation(value)
            except serializers.ValidationError as error:
                raise ValidationFailed(f"{name} {_sentence(error)}") from None
            self.on_value(name, checked)
        return checked

    @classmethod
    @cache
    def bound_fields(cls) -> list[tuple[str, Any]]:
        """The fields by name, bound once for all calls: checking leaves no trace on them, and
        copying them for each would cost more than all else that a call does."""
        return list(cls().fields.items())

    def is_missing(self, field: Any, value: Any) -> bool:
        """Null, or blank where a text is required."""
        blank = isinstance(field, StrictText) and isinstance(value, str) and not value.strip()
        return value is None or (blank and field.required)

    def on_missing(self, name: str, field: Any, checked: dict[str, Any]) -> None:
        """Refuses the absence of a required field."""
        if field.required:
            raise self.absence(name)

    def absence(self, name: str) -> ApiError:
        """The error of a field that is not there."""
        return self.sentences[name]() if name in self.sentences else missing(name)

    def on_value(self, name: str, checked: dict[str, Any]) -> None:
        """For rules that look at what came before."""


def missing(name: str) -> ValidationFailed:
    """The error of a required field without a sentence of its own."""
    return ValidationFailed(f"{name} is required")


def _sentence(error: serializers.ValidationError) -> str:
    detail: Any = error.detail
    return str(detail[0])
