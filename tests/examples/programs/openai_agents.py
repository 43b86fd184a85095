"""The sample of the OpenAI Agents SDK, with a model that refunds orders and says what came of it.

`start` begins a run, and `serve` receives webhooks and continues what is decided.
"""

import asyncio
import json
import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from agents import function_tool
from agents.items import ModelResponse
from agents.models.interface import Model
from agents.usage import Usage
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

ORDERS = os.environ.get("ORDERS", "1042").split()


class Scripted(Model):
    """Decides by the conversation alone."""

    async def get_response(self, *_: Any, input: Any, **__: Any) -> Any:
        items = [] if isinstance(input, str) else input
        results = [str(it["output"]) for it in items if it.get("type") == "function_call_output"]
        output: list[Any] = [refund_call(order) for order in ORDERS]
        if results:
            text = ResponseOutputText(
                type="output_text", text=" | ".join(sorted(results)), annotations=[]
            )
            output = [
                ResponseOutputMessage(
                    id="1", type="message", role="assistant", status="completed", content=[text]
                )
            ]
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


def refund_call(order: str) -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(
        type="function_call",
        call_id=f"call_{order}",
        name="refund",
        arguments=json.dumps({"order": order}),
    )


@function_tool(needs_approval=True)
def refund(order: str) -> str:
    """Refunds an order."""
    with open("refunded", "a") as log:
        log.write(f"{order}\n")
    return f"refunded {order}"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(receive(body, dict(self.headers)))  # noqa: F821 (of the sample)
        self.end_headers()
        asyncio.run(parking.go_on())  # noqa: F821

    def log_message(self, *_: object) -> None: ...


model = Scripted()
exec(os.environ["SAMPLE"])
if sys.argv[1] == "start":
    asyncio.run(parking.start("refund-1042", "Refund order 1042"))  # noqa: F821
elif sys.argv[1] == "ask":
    parking.ask()  # noqa: F821
else:
    HTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
