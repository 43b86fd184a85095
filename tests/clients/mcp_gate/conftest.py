"""The official client of MCP, the gate as its server, and a shop behind the gate."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters, stdio_client
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult

from reviews.models import Request
from tests.clients.conftest import SOURCE
from tests.waiting import stretched, wait_until

SHOP = Path(__file__).parent / "shop.py"
SHOP_COMMAND = [sys.executable, str(SHOP)]


@dataclass
class Host:
    """A host with one server. Its calls run beside the test, which decides about them."""

    portal: BlockingPortal
    client: Client
    received: list[Any]
    progress: list[tuple[float, str | None]] = field(default_factory=list)

    def call(self, tool: str, **arguments: Any) -> "Future[CallToolResult]":
        async def remember(progress: float, total: float | None, message: str | None) -> None:
            self.progress.append((progress, message))

        async def call() -> CallToolResult:
            return await self.client.call_tool(tool, arguments, progress_callback=remember)

        return self.portal.start_task_soon(call)

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return self.portal.start_task_soon(function, *arguments).result(stretched(30))


@dataclass
class Stand:
    """Where the gate is started: its service, its key and its folder."""

    url: str
    key: str
    folder: Path

    @property
    def calls(self) -> list[dict[str, Any]]:
        """What the shop has done."""
        file = self.folder / "calls"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        return [json.loads(line) for line in lines]

    @property
    def complaints(self) -> str:
        return (self.folder / "stderr").read_text(encoding="utf-8")

    def rules(self, text: str) -> list[str]:
        file = self.folder / "gate.toml"
        file.write_text(text, encoding="utf-8")
        return ["--rules", str(file)]

    def variables(self, **more: str) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(SOURCE),
            "REVIEW_LOOP_URL": self.url,
            "REVIEW_LOOP_KEY": self.key,
            "CALLS": str(self.folder / "calls"),
            **more,
        }

    def command(self, *words: str, server: list[str] | None = None) -> list[str]:
        last = ["--", *SHOP_COMMAND] if server is None else server
        return [sys.executable, "-m", "reviewloop", "mcp-gate", *words, *last]

    @contextmanager
    def host(self, command: list[str], mode: Any = "auto", **more: str) -> Iterator[Host]:
        first, *rest = command
        parameters = StdioServerParameters(command=first, args=rest, env=self.variables(**more))
        received: list[Any] = []

        async def receive(message: Any) -> None:
            received.append(message)

        async def say_why(context: Any, params: ElicitRequestParams) -> ElicitResult:
            return ElicitResult(action="accept", content={"reason": "It was sent back"})

        with ExitStack() as stack:
            errors = stack.enter_context((self.folder / "stderr").open("a", encoding="utf-8"))
            portal = stack.enter_context(start_blocking_portal())
            client = Client(
                stdio_client(parameters, errlog=errors),
                mode=mode,
                message_handler=receive,
                elicitation_callback=say_why,
            )
            stack.enter_context(portal.wrap_async_context_manager(client))
            yield Host(portal, client, received)

    @contextmanager
    def shop_at_address(self) -> Iterator[str]:
        """A shop with Streamable HTTP; yields its address."""
        log = self.folder / "shop.log"
        variables = self.variables(PORT="0")  # a free one, which it prints
        with log.open("w") as output:
            process = subprocess.Popen(SHOP_COMMAND, env=variables, stdout=output, stderr=output)
        try:
            wait_until(lambda: "running on" in log.read_text(), 30)
            address = re.search(r"running on (http://\S+)", log.read_text())
            assert address
            yield f"{address[1]}/mcp"
        finally:
            process.kill()
            process.wait()


@pytest.fixture
def stand(service: str, key: str, tmp_path: Path) -> Stand:
    return Stand(f"{service}/v1", key, tmp_path)


def open_request(number: int = 1) -> Request:
    """The latest request, once there are so many."""
    wait_until(lambda: Request.objects.count() >= number, 30)
    return Request.objects.latest("created_at")


def text_of(result: CallToolResult) -> str:
    return "\n".join(each.text for each in result.content if each.type == "text")
