"""Webhook endpoints of the account, which get the events of all its requests, or of some loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from reviewloop.transport import Transport
from reviewloop.types import SecretEndpoint, WebhookEndpoint
from reviewloop.unique import new_key

_PATH = "/api/webhook-endpoints"


class WebhookEndpoints:
    """`/api/webhook-endpoints`; the key needs the permission loops:write."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self) -> Sequence[WebhookEndpoint]:
        """Lists the endpoints, at most five."""
        data = self._transport.call("GET", _PATH).data
        return cast("Sequence[WebhookEndpoint]", data["webhook_endpoints"])

    def get(self, endpoint_id: str) -> WebhookEndpoint:
        """Reads an endpoint, without its secret."""
        data = self._transport.call("GET", f"{_PATH}/{endpoint_id}").data
        return cast("WebhookEndpoint", data["webhook_endpoint"])

    def create(
        self,
        url: str,
        events: Sequence[str],
        *,
        loop_ids: Sequence[str] = (),
        enabled: bool = True,
        idempotency_key: str | None = None,
    ) -> SecretEndpoint:
        """Creates an endpoint; only this call returns its `secret`. No `loop_ids` are all loops."""
        body = {"url": url, "events": events, "loop_ids": loop_ids, "enabled": enabled}
        return self._make(_PATH, body, idempotency_key)

    def update(self, endpoint_id: str, **changes: Any) -> WebhookEndpoint:
        """Changes the given fields: `url`, `events`, `loop_ids`, `enabled`."""
        data = self._transport.call("PUT", f"{_PATH}/{endpoint_id}", body=changes).data
        return cast("WebhookEndpoint", data["webhook_endpoint"])

    def delete(self, endpoint_id: str) -> None:
        """Deletes an endpoint; nothing more is sent there."""
        self._transport.delete(f"{_PATH}/{endpoint_id}")

    def rotate_secret(
        self, endpoint_id: str, *, force: bool = False, idempotency_key: str | None = None
    ) -> SecretEndpoint:
        """Makes a new `secret`; the old one stays valid for 24 hours.

        Within these, only `force` rotates again, and ends the older one.
        """
        return self._make(f"{_PATH}/{endpoint_id}/rotate", {"force": force}, idempotency_key)

    def _make(self, path: str, body: dict[str, Any], key: str | None) -> SecretEndpoint:
        key = key or new_key()
        made = self._transport.call("POST", path, body=body, idempotency_key=key).data
        return cast("SecretEndpoint", {**made["webhook_endpoint"], "secret": made["secret"]})
