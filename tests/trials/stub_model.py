"""A model that calls the shell with what its user says, and then repeats the result.

It speaks as much of Anthropic's Messages and OpenAI's Responses as the clients need.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

RUN = "RUN "  # what the user begins with: the rest is the command


class Model:
    """`results` has what each call of the shell came to, as the model was told."""

    def __init__(self) -> None:
        self.url = ""
        self.bodies: list[tuple[str, dict[str, Any]]] = []

    @property
    def results(self) -> list[str]:
        found: dict[str, str] = {}
        for _, body in self.bodies:
            for item in items(body):
                if item.get("type") in ("tool_result", "function_call_output"):
                    key = item.get("tool_use_id") or item["call_id"]
                    found[key] = flatten(item.get("content", item.get("output")))
        return list(found.values())

    def heard(self, text: str) -> bool:
        """Whether the model was told this anywhere."""
        return any(text in json.dumps(body, ensure_ascii=False) for _, body in self.bodies)


def items(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The parts of all messages of both kinds."""
    for message in [*body.get("messages", []), *body.get("input", [])]:
        if isinstance(message, dict):
            yield message
            content = message.get("content")
            if isinstance(content, list):
                yield from (part for part in content if isinstance(part, dict))
            elif isinstance(content, str):
                yield {"type": "text", "text": content}


def flatten(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or [])


def find_command(body: dict[str, Any]) -> str | None:
    """The command that the user asked for last, unless its result is there."""
    command = None
    for item in items(body):
        text = item.get("text")
        if isinstance(text, str) and text.startswith(RUN):
            command = text.removeprefix(RUN)
        elif item.get("type") in ("tool_result", "function_call_output"):
            command = None
    return command


class Handler(BaseHTTPRequestHandler):
    model: Model

    def do_HEAD(self) -> None:
        self.send(b"", "text/plain")

    def do_GET(self) -> None:
        self.send(b'{"data": [], "models": []}', "application/json")

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            body = json.loads(raw)
        except ValueError:
            body = {}
        self.model.bodies.append((self.path, body))
        path = self.path.partition("?")[0]
        if path.endswith("/messages"):
            self.stream(list(anthropic(body, len(self.model.bodies))))
        elif path.endswith("/responses"):
            self.stream(list(openai(body, len(self.model.bodies))))
        else:
            self.send(b'{"input_tokens": 10}', "application/json")

    def stream(self, events: list[dict[str, Any]]) -> None:
        text = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events)
        self.send(text.encode(), "text/event-stream")

    def send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


def anthropic(body: dict[str, Any], number: int) -> Iterator[dict[str, Any]]:
    has_shell = any(tool.get("name") == "Bash" for tool in body.get("tools", []))
    command = find_command(body) if has_shell else None
    usage = {"input_tokens": 10, "output_tokens": 1}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "content": []}
    more = {"model": body.get("model"), "stop_reason": None, "stop_sequence": None, "usage": usage}
    yield {"type": "message_start", "message": {**message, **more}}
    if command is None:
        block: dict[str, Any] = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": "The stub has nothing more to say."}
    else:
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {}}
        call = {"command": command, "description": "As the user said"}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call)}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    reason = {"stop_reason": "end_turn" if command is None else "tool_use", "stop_sequence": None}
    yield {"type": "message_delta", "delta": reason, "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}


def openai(body: dict[str, Any], number: int) -> Iterator[dict[str, Any]]:
    command = find_command(body)
    response = {"id": f"resp_{number}", "object": "response", "status": "in_progress", "output": []}
    yield {"type": "response.created", "response": response}
    item: dict[str, Any]
    if command is None:
        part = {
            "type": "output_text",
            "text": "The stub has nothing more to say.",
            "annotations": [],
        }
        item = {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": [part]}
    else:
        arguments = {
            "cmd": command,
            "sandbox_permissions": "require_escalated",
            "justification": "As the user said",
        }
        item = {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{number}",
            "name": "exec_command",
            "arguments": json.dumps(arguments),
        }
    item["status"] = "completed"
    yield {"type": "response.output_item.added", "output_index": 0, "item": item}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    usage |= {"input_tokens_details": None, "output_tokens_details": None}  # type: ignore[dict-item]
    done = {**response, "status": "completed", "output": [item], "usage": usage}
    yield {"type": "response.completed", "response": done}


@contextmanager
def model_serving() -> Iterator[Model]:
    model = Model()
    handler = type("HandlerOfModel", (Handler,), {"model": model})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    model.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
