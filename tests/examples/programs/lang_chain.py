"""The sample of LangChain, with a model that sends one email and then says what came of it."""

import os
from typing import Any

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool

CALLS = [
    {"name": "send_email", "args": {"to": to, "text": "It ships today."}, "id": f"call_{to}"}
    for to in os.environ.get("RECEIVERS", "grace").split()
]


class Scripted(GenericFakeChatModel):
    """Decides by the conversation alone, so that it goes on after a restart."""

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        return self

    def _generate(self, messages: Any, *_: Any, **__: Any) -> ChatResult:
        results = [each for each in messages if isinstance(each, ToolMessage)]
        words = " | ".join(f"{each.status}: {each.content}" for each in results)
        answer = AIMessage(words) if results else AIMessage("", tool_calls=CALLS)
        return ChatResult(generations=[ChatGeneration(message=answer)])


@tool
def send_email(to: str, text: str) -> str:
    """Sends an email."""
    with open("sent", "a") as log:
        log.write(f"{to}: {text}\n")
    return f"sent to {to}"


model = Scripted(messages=iter(()))
exec(os.environ["SAMPLE"].replace('"reject", ', os.environ.get("REJECT", '"reject", ')))
