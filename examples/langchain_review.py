"""Has people decide about the tool calls that LangChain's HumanInTheLoopMiddleware holds back.

Its four decisions are those of an approval: approve, edit the arguments, reject, and respond in
place of the tool.
"""

from typing import Any

from langgraph.types import Interrupt
from langgraph_interrupt import Decide, name_question
from reviewloop import Answer, Client


def review(client: Client, thread: str, **settings: Any) -> Decide:
    """Asks about each tool call. `settings` are those of `Client.ask`: `loop`, `timeout`."""

    def decide(asked: Interrupt) -> dict[str, Any]:
        configs = {each["action_name"]: each for each in asked.value["review_configs"]}
        decisions = []
        for number, action in enumerate(asked.value["action_requests"]):
            allowed = configs[action["name"]]["allowed_decisions"]
            resume = name_question(thread, asked.id, number, action)
            answer = ask_about(client, action, allowed, resume=resume, **settings)
            decisions.append(translate(answer, action["name"]))
        return {"decisions": decisions}

    return decide


def ask_about(client: Client, action: Any, allowed: list[str], **settings: Any) -> Answer:
    """Asks about one tool call. It is rejected if nobody decides in time."""
    if "reject" not in allowed:
        raise ValueError(f'allow "reject" for {action["name"]}: it is the default')
    actions = [each for each in allowed if each != "edit" or action["args"]]
    return client.ask(
        f"**Call {action['name']}?**",
        response_type="approval",
        response_config={
            "proposal": {"name": action["name"], "arguments": action["args"]},
            "actions": actions,
        },
        default={"action": "reject"},
        **settings,
    )


def translate(answer: Answer, name: str) -> dict[str, Any]:
    """Writes the answer as a decision of the middleware."""
    decision = answer.decision or {}
    if decision["action"] == "edit":
        return {"type": "edit", "edited_action": {"name": name, "args": answer.arguments}}
    if decision["action"] == "reject":
        nobody = "" if answer.by_human else "Nobody answered in time."
        return {"type": "reject", "message": decision.get("message") or nobody}
    if decision["action"] == "respond":
        return {"type": "respond", "message": decision["message"]}
    if decision["action"] == "approve":
        return {"type": "approve"}
    raise ValueError(f"the middleware has no decision like {decision['action']}")
