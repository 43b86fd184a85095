"""Reads the bodies of requests on the event loop, under limits of size, rate and memory."""

import asyncio
from typing import TYPE_CHECKING

from web.json_clients import asks_for_json
from web.server.client import Client, Gone
from web.server.limits import LAST_LOOK
from web.server.responses import Refusal

if TYPE_CHECKING:
    from web.server.application import Application


def check_head(client: Client) -> None:
    """Checks what llhttp lets pass. Raises Refusal."""
    version, headers = client.scope["http_version"], client.scope["headers"]
    hosts = sum(name == b"host" for name, _ in headers)
    if version not in ("1.0", "1.1"):
        raise Refusal(400, "The version of HTTP is not 1.1.")
    if hosts > 1:
        raise Refusal(400, "The request has more than one Host header.")
    if version == "1.1" and not hosts:
        raise Refusal(400, "The request has no Host header.")
    if version == "1.0" and b"transfer-encoding" in client.fields:
        raise Refusal(400, "HTTP/1.0 has no Transfer-Encoding.")


class Body:
    """The body of a request. Its bytes count until it is closed."""

    def __init__(self, app: "Application", client: Client) -> None:
        self.app, self.client, self.limits = app, client, client.limits
        self.held = 0

    def __enter__(self) -> "Body":
        return self

    def __exit__(self, *_: object) -> None:
        self.app.held -= self.held

    async def read(self) -> bytes:
        """Returns the body. Raises Refusal, Gone. The API refuses what is too large itself, by its
        own rules, and gets a bit more than may be."""
        is_api = asks_for_json(self.client.scope["path"], "", "")
        begun, parts, size = self.app.loop.time(), [], 0
        message = self.client.poll()
        while True:
            if message is not None:
                if message["type"] == "http.disconnect":
                    raise Gone
                parts.append(message["body"])
                size += len(message["body"])
                self._hold(size)
                if size > self.limits.body and not is_api:
                    raise Refusal(413, f"The body may have {self.limits.body} bytes.")
                if size > self.limits.body or not message["more_body"]:
                    self.client.must_close = message["more_body"]
                    return b"".join(parts)
            allowed = self.limits.body_seconds + size / self.limits.body_rate
            try:
                async with asyncio.timeout_at(begun + min(allowed, self.limits.body_longest)):
                    message = await self.client.receive()
            except TimeoutError:
                await asyncio.sleep(LAST_LOOK)
                message = self.client.poll()
                if message is None:
                    raise Refusal(408, "The body took too long to arrive.") from None

    def _hold(self, size: int) -> None:
        more = max(size - self.limits.free, 0) - self.held
        if self.app.held + more > self.limits.bodies:
            raise Refusal(503, "There is no room for the body at the moment.")
        self.held += more
        self.app.held += more
