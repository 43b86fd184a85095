"""Has people decide about the tool calls that LangChain's HumanInTheLoopMiddleware holds back.

They approve, edit, reject, or respond in place of the tool. What they edit or say stands in the
comment beside their answer.
"""

import json
from contextlib import suppress
from itertools import count
from typing import Any

from langgraph.types import Interrupt
from langgraph_interrupt import Decide, name_question
from reviewloop import Client

LABELS = {
    "approve": "Approve",
    "edit": "Edit (the comment has the new arguments, as JSON)",
    "reject": "Reject (the comment may say why)",
    "respond": "Answer in place of the tool (in the comment)",
}
LONGEST = 1500  # characters of the arguments in the question; the context has all of them


def review(client: Client, thread: str, **settings: Any) -> Decide:
    """Asks about each tool call. `settings` are those of `Client.ask`: `loop`, `timeout`."""

    def decide(asked: Interrupt) -> dict[str, Any]:
        configs = {each["action_name"]: each for each in asked.value["review_configs"]}
        decisions = []
        for number, action in enumerate(asked.value["action_requests"]):
            allowed = configs[action["name"]]["allowed_decisions"]
            place = (thread, asked.id, number)
            decisions.append(decide_about(client, action, allowed, place, settings))
        return {"decisions": decisions}

    return decide


def decide_about(
    client: Client, action: Any, allowed: list[str], place: tuple[Any, ...], settings: Any
) -> dict[str, Any]:
    """Asks until the decision can be used. Rejects the tool call if nobody answers in time."""
    if "reject" not in allowed:
        raise ValueError(f'allow "reject" for {action["name"]}: it is the default')
    problem = ""
    for attempt in count():
        answer = client.ask(
            problem + describe(action),
            options=[{"value": each, "label": LABELS[each]} for each in allowed],
            default="reject",
            context=action["args"],
            resume=name_question(*place, action, attempt),
            **settings,
        )
        comment = (answer.comment or "").strip()
        if answer.value == "approve":
            return {"type": "approve"}
        if answer.value == "reject":
            nobody = "Nobody answered in time." if not answer.by_human else ""
            return {"type": "reject", "message": comment or nobody}
        if answer.value == "respond" and comment:
            return {"type": "respond", "message": comment}
        if answer.value == "edit" and (args := read_object(comment)) is not None:
            return {"type": "edit", "edited_action": {"name": action["name"], "args": args}}
        problem = f"**The comment on the last answer ({answer.value}) could not be used.**\n\n"
    raise AssertionError("unreachable")


def describe(action: Any) -> str:
    args = json.dumps(action["args"], indent=2, ensure_ascii=False, default=str)[:LONGEST]
    return f"Call **{action['name']}**?\n\n```json\n{args}\n```"


def read_object(text: str) -> Any:
    """Reads a JSON object; None if it is not one."""
    with suppress(ValueError):
        value = json.loads(text)
        return value if isinstance(value, dict) else None
