"""Who has sent a request, and gets the response."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from web.json_clients import asks_for_json
from web.server.limits import Limits
from web.server.responses import Answer, Refusal

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Gone(Exception):
    """The client has left, or takes nothing: there is nobody to answer."""


class Client:
    """The two directions of one request."""

    def __init__(self, limits: Limits, scope: Message, receive: Receive, send: Send) -> None:
        self.limits = limits
        self.scope = scope
        self.receive, self._send = receive, send
        self.fields: dict[bytes, bytes] = dict(scope["headers"])
        self.must_close = False  # the connection
        self.has_begun = False  # the response

    def poll(self) -> Message | None:
        """Returns the next message if it has come already. Costs no task, unlike a time-out."""
        coroutine: Any = self.receive()
        try:
            coroutine.send(None)
        except StopIteration as stop:
            message: Message = stop.value
            return message
        coroutine.close()
        return None

    def is_gone(self) -> bool:
        message = self.poll()
        return message is not None and message["type"] == "http.disconnect"

    async def begin(self, answer: Answer) -> None:
        """Sends the status and the headers."""
        self.has_begun = True
        headers = answer.headers
        if self.must_close:
            headers = [*headers, (b"connection", b"close")]
        await self._send(
            {"type": "http.response.start", "status": answer.status, "headers": headers}
        )

    async def send_part(self, body: bytes, *, more: bool = True) -> None:
        """Sends a part. Raises Gone if the client takes nothing of what was sent before."""
        try:
            async with asyncio.timeout(self.limits.stalled):
                await self._send({"type": "http.response.body", "body": body, "more_body": more})
        except TimeoutError:
            raise Gone from None

    async def finish(self, answer: Answer) -> None:
        """Sends a whole response."""
        answer = answer.measure(self.scope["method"])
        await self.begin(answer)
        body = answer.body
        if self.must_close:
            await self.send_part(body)
            await self._linger()
            body = b""
        await self._send({"type": "http.response.body", "body": body})

    async def _linger(self) -> None:
        """Takes what the client still sends: closing now would destroy the response on its way."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self.limits.linger):
                while (await self.receive()).get("more_body"):
                    pass

    async def refuse(self, refusal: Refusal) -> None:
        self.must_close |= refusal.status != 500  # then the request was complete
        accept, kind = (
            self.fields.get(name, b"").decode("latin-1") for name in (b"accept", b"content-type")
        )
        await self.finish(refusal.build(as_json=asks_for_json(self.scope["path"], accept, kind)))
