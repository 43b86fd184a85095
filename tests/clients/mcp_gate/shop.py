"""An MCP server of the official SDK, before which the gate stands: a shop with every kind of tool.

It writes a line of JSON to the file CALLS for each call that changes something. With PORT it serves
Streamable HTTP there, else standard input and output.
"""

import json
import os
from typing import Annotated, Any

import anyio
from mcp.server.mcpserver import Context, Elicit, ElicitationResult, MCPServer, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp_types import Completion, ImageContent, TextContent, ToolAnnotations
from pydantic import BaseModel

PIXEL = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
READS = ToolAnnotations(read_only_hint=True)
shop = MCPServer(name="shop", version="1.0", instructions="Sells cups.")


class Weight(BaseModel):
    grams: float


class Reason(BaseModel):
    reason: str


def note(**call: Any) -> None:
    with open(os.environ["CALLS"], "a", encoding="utf-8") as file:
        file.write(json.dumps(call) + "\n")


@shop.tool(annotations=ToolAnnotations(destructive_hint=True), structured_output=False)
def refund(order: str, amount: float, note_to_them: str = "") -> str:
    """Sends money back to a customer."""
    note(tool="refund", order=order, amount=amount)
    return f"Refunded {amount} of {order}"


@shop.tool(title="Weigh a parcel")
def weigh(parcel: str) -> Weight:
    """Weighs a parcel, which moves it."""
    note(tool="weigh", parcel=parcel)
    return Weight(grams=12.5)


@shop.tool()
def break_cup() -> str:
    """Fails."""
    note(tool="break_cup")
    raise ToolError("The cup is broken")


def ask_reason() -> Elicit[Reason]:
    return Elicit("Why is it closed?", Reason)


@shop.tool(structured_output=False)
def close(order: str, answer: Annotated[ElicitationResult[Reason], Resolve(ask_reason)]) -> str:
    """Closes an order, once the user has said why."""
    note(tool="close", order=order, action=answer.action)
    return f"Closed {order}: {answer.action}"


@shop.tool(annotations=READS)
def read_order(order: str) -> str:
    """Reads an order."""
    return f"{order}: one cup"


@shop.tool(annotations=READS)
def picture() -> list[ImageContent]:
    """Shows a cup."""
    return [ImageContent(type="image", data=PIXEL, mime_type="image/gif")]


@shop.tool(annotations=READS)
async def count_cups(ctx: Context) -> str:
    """Counts slowly."""
    for number in range(3):
        await ctx.report_progress(progress=number, total=3, message=f"{number} cups")
    return "3"


@shop.tool(annotations=READS)
def list_variables() -> list[str]:
    """Lists the names of the environment's variables."""
    return sorted(os.environ)


@shop.tool(annotations=READS)
async def wait_for_ever() -> str:
    """Ends only if it is cancelled."""
    note(tool="wait_for_ever")
    try:
        await anyio.sleep_forever()
    finally:
        note(tool="wait_for_ever", cancelled=True)
    return ""


def refund_in_cents(order: str, cents: int) -> str:
    """Sends cents back to a customer."""
    note(tool="refund", order=order, cents=cents)
    return f"Refunded {cents} cents of {order}"


@shop.tool(annotations=READS)
async def change(ctx: Context) -> str:
    """Gives the tool `refund` other arguments."""
    shop.remove_tool("refund")
    shop.add_tool(refund_in_cents, name="refund", structured_output=False)
    await ctx.notify_tools_changed()
    await ctx.session.send_tool_list_changed()
    return "changed"


@shop.tool(annotations=READS)
def crash() -> str:
    """Ends the server."""
    os._exit(3)


@shop.resource("shop://catalogue")
def catalogue() -> str:
    """What is sold."""
    return "cups"


@shop.resource("shop://orders/{order}")
def order_page(order: str) -> str:
    """One order."""
    return f"page of {order}"


@shop.prompt()
def thank(name: str) -> list[UserMessage]:
    """Thanks somebody."""
    return [UserMessage(role="user", content=TextContent(type="text", text=f"Thank {name}."))]


@shop.completion()  # type: ignore[no-untyped-call, untyped-decorator]
async def complete(ref: Any, argument: Any, context: Any) -> Completion:
    return Completion(values=[f"{argument.value}da"], total=1, has_more=False)


if __name__ == "__main__":
    if "PORT" in os.environ:
        shop.run(transport="streamable-http", port=int(os.environ["PORT"]))
    else:
        shop.run()
