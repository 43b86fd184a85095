"""Requests: questions to a loop, and their results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import monotonic, sleep
from typing import Any, cast

from reviewloop.errors import AlreadyRedeemed, InvalidCall
from reviewloop.transport import READ_SECONDS, Transport, __version__
from reviewloop.types import FINAL, CreatedRequest, ListedRequest, Receipt, Request
from reviewloop.unique import new_key

MAX_WAIT = 50  # seconds, the longest `?wait`
MAX_PAUSE = 40.0  # seconds between polls, if calls must not wait
PAGE = 100


class Requests:
    """`/api/requests`"""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self,
        loop_id: str,
        *,
        request_text: str,
        response_type: str,
        response_config: Mapping[str, Any],
        default_response: Any,
        timeout_seconds: int | None = None,
        priority: str = "medium",
        idempotency_key: str | None = None,
        traceparent: str | None = None,
        **more: Any,
    ) -> CreatedRequest:
        """Asks a loop. Without `timeout_seconds` people have 30 days.

        `more` are further fields: `image_url`, `context`, `callback_url`, `metadata`, and
        `replaces`: the id of the request that this one is the next version of. Webhooks of the
        request continue the trace of `traceparent` (W3C Trace Context).
        """
        fields = {
            "request_text": request_text,
            "response_type": response_type,
            "response_config": dict(response_config),
            "default_response": default_response,
            "priority": priority,
            "timeout_seconds": timeout_seconds,
            **more,
        }
        return self.send(loop_id, complete(fields), idempotency_key or new_key(), traceparent)

    def send(
        self,
        loop_id: str,
        body: Mapping[str, Any],
        idempotency_key: str,
        traceparent: str | None = None,
    ) -> CreatedRequest:
        """Sends the body of a create as it is."""
        result = self._transport.call(
            "POST",
            f"/api/loops/{loop_id}/requests",
            body=body,
            idempotency_key=idempotency_key,
            traceparent=traceparent,
        )
        return cast("CreatedRequest", result.data)

    def get(self, request_id: str) -> Request:
        """Reads a request as it is now."""
        data = self._transport.call("GET", f"/api/requests/{request_id}").data
        return cast("Request", data["request"])

    def wait(self, request_id: str, seconds: float | None = None) -> Request:
        """Returns the request once it has ended, or its state after `seconds`.

        It tolerates outages of the service and an exhausted quota, but never waits longer than
        `seconds`.
        """
        ends_at = None if seconds is None else monotonic() + seconds
        pause = 1.0
        while True:
            left = None if ends_at is None else ends_at - monotonic()
            request, has_waited = self._wait_once(request_id, left)
            if request["status"] in FINAL:
                return request
            if not has_waited:  # too many calls are waiting at the service
                rest = pause if ends_at is None else min(pause, ends_at - monotonic())
                sleep(max(0.0, rest))
                pause = min(2 * pause, MAX_PAUSE)
            if ends_at is not None and monotonic() >= ends_at:
                return request

    def cancel(self, request_id: str, *, traceparent: str | None = None) -> None:
        """Cancels a request while it is pending."""
        path = f"/api/requests/{request_id}"
        try:
            self._transport.call("DELETE", path, traceparent=traceparent)
        except InvalidCall as error:
            # an earlier attempt may have succeeded without its response
            if not (error.repeats and self.get(request_id)["status"] == "cancelled"):
                raise

    def list(
        self, *, loop_id: str | None = None, page_size: int = PAGE, **filters: Any
    ) -> Iterator[ListedRequest]:
        """Yields the requests that the account created, page by page.

        `filters` are `status`, `priority` and `sort`, and `metadata`: its pairs as a mapping.
        """
        params = {"loop_id": loop_id, "limit": page_size, **filters}
        return self._pages("/api/requests", flatten(params))

    def list_of_loop(
        self, loop_id: str, *, page_size: int = PAGE, **filters: Any
    ) -> Iterator[ListedRequest]:
        """Yields the requests of a loop that the account created or is a member of."""
        params = flatten({"limit": page_size, **filters})
        return self._pages(f"/api/loops/{loop_id}/requests", params)

    def give_feedback(
        self, request_id: str, *, idempotency_key: str | None = None, **feedback: Any
    ) -> dict[str, Any]:
        """Gives feedback on an answer: `rating`, `comment`, `tags` and so on."""
        path, body = f"/api/requests/{request_id}/feedback", {"feedback": feedback}
        key = idempotency_key or new_key()
        data = self._transport.call("POST", path, body=body, idempotency_key=key).data
        return cast("dict[str, Any]", data["feedback"])

    def receipt(self, request_id: str) -> Receipt:
        """Reads the signed receipt of an approval. Raises InvalidCall if nobody approved it."""
        data = self._transport.call("GET", f"/api/requests/{request_id}/receipt").data
        return cast("Receipt", data)

    def redeem(
        self,
        request_id: str,
        arguments: Mapping[str, Any],
        *,
        name: str | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Redeems an approval, once: call it right before you run what was approved.

        `name` and `arguments` are those of the call that you are about to run; without a name only
        the arguments are compared. An `idempotency_key` is random for each process that runs the
        call. Raises AlreadyRedeemed, ArgumentsDiffer, and InvalidCall if nobody approved it or its
        receipt has expired.
        """
        body: dict[str, Any] = {"arguments": dict(arguments)}
        if name is not None:
            body["name"] = name
        result = self._transport.call(
            "POST",
            f"/api/requests/{request_id}/redeem",
            body=body,
            idempotency_key=idempotency_key or new_key(),
        )
        receipt = cast("Receipt", result.data)
        # a new key is nobody else's; under a key of the caller's, another process may have redeemed
        is_replay = result.headers.get("Idempotent-Replayed") == "true"
        if idempotency_key is not None and is_replay and not result.may_have_run:
            at = {"redeemed_at": receipt["redeemed_at"]}
            raise AlreadyRedeemed(409, "Receipt was already redeemed", at)
        return receipt

    def _wait_once(self, request_id: str, left: float | None) -> tuple[Request, bool]:
        """Returns the request, and whether the service delayed its response."""
        wait = MAX_WAIT if left is None else max(1, min(MAX_WAIT, round(left)))
        result = self._transport.call(
            "GET",
            f"/api/requests/{request_id}",
            params={"wait": wait},
            read_seconds=wait + READ_SECONDS,
            patience=left,
            sit_out_quota=left is None,
        )
        applied = result.headers.get("Wait-Applied", "0").split(";")[0].strip()
        return cast("Request", result.data["request"]), applied != "0"

    def _pages(self, path: str, params: Mapping[str, Any]) -> Iterator[ListedRequest]:
        """Follows the list by its cursor: requests that leave the list do not shift the others."""
        place: dict[str, Any] | None = {"cursor": ""}
        seen: set[str] = set()  # a status may change between two pages of a list sorted by it
        while place is not None:
            data = self._transport.call("GET", path, params={**params, **place}).data
            for request in data["requests"]:
                if request["id"] not in seen:
                    seen.add(request["id"])
                    yield request
            place = _find_next(data["pagination"])


def _find_next(pagination: Mapping[str, Any]) -> dict[str, Any] | None:
    """Returns the position of the next page; older services know only offsets."""
    for name in ("cursor", "offset"):
        if pagination.get(f"next_{name}"):
            return {name: pagination[f"next_{name}"]}
    return None


def flatten(params: Mapping[str, Any]) -> dict[str, Any]:
    """Writes each pair of `metadata` as the parameter that filters by it."""
    flat = {name: value for name, value in params.items() if name != "metadata"}
    pairs = params.get("metadata") or {}
    return {**flat, **{f"metadata[{name}]": value for name, value in pairs.items()}}


def complete(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Derives fields from the others; leaves out fields that are None."""
    derived = {
        "processing_type": "deferred"
        if fields.get("timeout_seconds") is None
        else "time-sensitive",
        "type": "image" if fields.get("image_url") else "markdown",
        "platform": "api",
        "platform_version": f"reviewloop-python/{__version__}",
    }
    return {name: value for name, value in {**derived, **fields}.items() if value is not None}
