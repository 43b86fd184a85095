"""The serializer of policies, as requests and loops show them."""

from typing import Any

from rest_framework import serializers

from api.fields import JsonValue
from reviews.policy import RULES


class StoredPolicy(serializers.Serializer[dict[str, Any]]):
    """A policy with all its fields."""

    rule = serializers.ChoiceField(choices=RULES)
    answers = serializers.IntegerField()
    blind = serializers.BooleanField()
    exclude_creator = serializers.BooleanField()
    veto = serializers.ListField(child=JsonValue())
