"""The ASGI application: one for each worker process.

It reads what is slow on the event loop, and runs Django's synchronous handler on threads, one
complete request at a time.
"""

import asyncio
import json
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from django.http.response import HttpResponseBase

from web.asgi import Request, build_meta
from web.server.bodies import Body, check_head
from web.server.client import Client, Gone, Message, Receive, Send
from web.server.limits import Limits
from web.server.responses import JSON, Answer, Refusal, build_answer, take
from web.waiting import DEFERRED, Deferred, WaitingList

Handler = Callable[[Request], HttpResponseBase]


class Application:
    """Its methods run on the event loop, but for those that say otherwise."""

    loop: asyncio.AbstractEventLoop

    def __init__(self, handler: Handler, site: str, threads: int, limits: Limits) -> None:
        parts = urlsplit(site)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        self.server = (parts.hostname or "localhost", str(port))  # for requests without a Host
        self.handler = handler
        self.limits = limits
        self.waiting = WaitingList(limits.waiting, limits.waiting_of_one)
        self.streams = WaitingList(limits.streams, limits.streams_of_one)
        self.held = 0  # bytes of bodies
        self._threads = ThreadPoolExecutor(threads, "web")
        self._free = asyncio.Semaphore(threads)
        self._prober = ThreadPoolExecutor(1, "readiness")
        self._check: asyncio.Future[Answer] | None = None

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        client = Client(self.limits, scope, receive, send)
        with suppress(Gone):
            try:
                await self._route(client)
            except Refusal as refusal:
                if client.has_begun:
                    raise
                await client.refuse(refusal)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        self.loop = self.waiting.loop = self.streams.loop = asyncio.get_running_loop()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})

    def stop(self) -> None:
        """Has what waits answered as it stands."""
        self.waiting.close()
        self.streams.close()

    async def _route(self, client: Client) -> None:
        path = client.scope["path"]
        if path not in ("/healthz", "/readyz"):
            check_head(client)
            with Body(self, client) as body:
                await self._serve(client, await body.read())
            return
        client.must_close = bool({b"content-length", b"transfer-encoding"} & client.fields.keys())
        if client.scope["method"] not in ("GET", "HEAD"):
            await client.finish(Answer(405, [(b"allow", b"GET, HEAD")], b""))
        elif path == "/healthz":
            await client.finish(Answer(200, JSON, b'{"status": "ok"}'))
        else:
            await client.finish(await self._ask_readiness())

    async def _ask_readiness(self) -> Answer:
        """Asks Django, on a thread of its own. Calls that come meanwhile share the answer, so that
        no flood of them makes those of the orchestrator wait."""
        check = self._check
        if check is None or check.done():
            check = self._check = self.loop.run_in_executor(self._prober, self._probe)
        done, _ = await asyncio.wait((check,), timeout=self.limits.readiness)
        if done:
            return check.result()
        text = json.dumps({"status": "unavailable", "reason": "The check takes too long."})
        return Answer(503, JSON, text.encode())

    def _probe(self) -> Answer:
        """Runs on the thread for it, whatever the Host of the call is."""
        scope = {
            "method": "GET", "path": "/readyz", "raw_path": b"/readyz", "query_string": b"",
            "http_version": "1.1", "client": ("127.0.0.1", 0), "headers": [],
        }  # fmt: skip
        return self._call_django(build_meta(scope, self.server), b"")

    async def _serve(self, client: Client, body: bytes) -> None:
        """Has Django answer, as often as it defers its response."""
        meta = build_meta(client.scope, self.server)
        if body or "CONTENT_LENGTH" in meta:
            meta["CONTENT_LENGTH"] = str(len(body))
        has_streams = bool(self.limits.streams) and client.scope["http_version"] == "1.1"
        with Deferred(self.waiting, self.streams, has_streams=has_streams) as deferred:
            meta[DEFERRED] = deferred
            leaving: asyncio.Future[Message] | None = None
            try:
                while True:
                    answer = await self._run(client, self._call_django, meta, body)
                    if not (deferred.is_kept and deferred.waiter):
                        break
                    if deferred.is_open:
                        await self._send_open(client, answer, more=True)
                    leaving = leaving or asyncio.ensure_future(client.receive())
                    await deferred.waiter.wait(leaving)
                    if deferred.is_open:
                        await client.send_part(b"")  # returns when the last one is taken
                    if leaving.done():
                        raise Gone
                    deferred.resume()
            finally:
                if leaving is not None:
                    leaving.cancel()
        if client.has_begun:
            await self._send_open(client, answer, more=False)
        else:
            await self._finish(client, answer)

    async def _run(self, client: Client, function: Callable[..., Any], *given: Any) -> Any:
        """Runs a function on a thread, once one is free, if the client is still there then."""
        async with self._free:
            if client.is_gone():
                raise Gone
            return await asyncio.wrap_future(self._threads.submit(function, *given))

    def _call_django(self, meta: dict[str, Any], body: bytes) -> Answer:
        """Runs on a thread. A failure is a response, unless one has begun: Django itself fails
        never."""
        request = Request(meta, body)
        try:
            return build_answer(request, self.handler(request))
        except Exception:
            traceback.print_exc()
            raise Refusal(500, "The log has the reason.") from None

    async def _send_open(self, client: Client, answer: Answer, *, more: bool) -> None:
        """Sends a part of a stream, before which all others have been taken."""
        if not client.has_begun:
            await client.begin(answer)
        await client.send_part(answer.body, more=more)

    async def _finish(self, client: Client, answer: Answer) -> None:
        """Sends a response, part by part if it is long. The client's end is its end."""
        if answer.rest is None:
            await client.finish(answer)
            return
        rest, is_last = answer.rest, False
        try:
            await client.begin(answer)
            await client.send_part(answer.body)
            while not is_last:
                data, is_last = await self._run(client, take, rest)
                await client.send_part(data, more=not is_last)
        finally:
            await self.loop.run_in_executor(self._threads, answer.close)  # type: ignore[arg-type]
