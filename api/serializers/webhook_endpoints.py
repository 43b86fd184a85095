"""Serializers of webhook endpoints (docs/contract.md, `webhook_endpoint`)."""

from typing import Any

from rest_framework import serializers

from accounts.models import WebhookEndpoint
from api.fields import (
    Identifier,
    Input,
    InvalidValue,
    StrictBoolean,
    StrictStrings,
    Timestamp,
    WebUrl,
)
from db.ids import normalize_id
from reviews.lifecycle.states import CHOICES
from web.phrases import say
from webhooks.endpoints import NotPublic, check_address

MAX_LOOPS = 100
_LOOPS = "Only events of these loops; [] for all loops, also later ones."


class EndpointUrl(WebUrl):
    """The URL of a receiver. It is refused if webhooks may not reach its host."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        url = super().run_validation(data)
        try:
            check_address(url)
        except NotPublic:
            raise InvalidValue(
                say("%(field)s must have a public address", field=self.field_name)
            ) from None
        return url


class EventNames(StrictStrings):
    """The events that an endpoint gets, each once and in the order of the documents."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        chosen = super().run_validation(data)
        if not chosen or not set(chosen) <= set(CHOICES):
            raise serializers.ValidationError(f"must be one or more of: {', '.join(CHOICES)}")
        return [name for name in CHOICES if name in chosen]


class LoopIds(StrictStrings):
    """Ids of loops, each once. An empty list means all loops and is stored as null."""

    def run_validation(self, data: Any = serializers.empty) -> Any:
        ids = [normalize_id(each) for each in super().run_validation(data)]
        if None in ids or len(ids) > MAX_LOOPS:
            raise serializers.ValidationError(f"must be an array of at most {MAX_LOOPS} loop IDs")
        return list(dict.fromkeys(ids)) or None


class EndpointInput(Input):
    """The body of POST /api/webhook-endpoints."""

    url = EndpointUrl()
    events = EventNames()
    loop_ids = LoopIds(required=False, help_text=_LOOPS)
    enabled = StrictBoolean(required=False)


class EndpointChanges(Input):
    """The body of PUT /api/webhook-endpoints/{id}."""

    url = EndpointUrl(required=False)
    events = EventNames(required=False)
    loop_ids = LoopIds(required=False, help_text=_LOOPS)
    enabled = StrictBoolean(required=False)


class RotateInput(Input):
    """The body of POST /api/webhook-endpoints/{id}/rotate."""

    force = StrictBoolean(
        required=False, help_text="Rotate again within 24 hours, which ends the older secret."
    )


class EndpointSerializer(serializers.Serializer[WebhookEndpoint]):
    """A webhook endpoint, without its secret."""

    id = Identifier()
    url = serializers.CharField()
    events = serializers.ListField(child=serializers.CharField())
    loop_ids = serializers.ListField(child=serializers.CharField(), help_text=_LOOPS)
    enabled = serializers.BooleanField(source="is_on")
    secret_changed_at = Timestamp(source="changed_at")
    created_at = Timestamp()
    updated_at = Timestamp()

    def to_representation(self, instance: WebhookEndpoint) -> dict[str, Any]:
        data: dict[str, Any] = super().to_representation(instance)
        return {**data, "loop_ids": instance.loop_ids or []}
