"""Has people answer what the nodes of a LangGraph graph ask with `interrupt`.

A node passes the arguments of `Client.ask` and gets the answer:

    answer = interrupt({"question": "Send it?", "options": ["yes", "no"], "default": "no"})
    if answer["value"] == "yes": ...
"""

import hashlib
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from langgraph.types import Command, Interrupt
from reviewloop import Client

Decide = Callable[[Interrupt], Any]


def run(graph: Any, state: Any, config: Any, decide: Decide) -> Any:
    """Runs a graph to its end, with `decide` answering its interrupts; returns its state.

    The graph needs a checkpointer. If an earlier process died in the middle of this thread, it
    goes on there, and `state` is not used.
    """
    paused = graph.get_state(config)
    if not paused.interrupts:
        graph.invoke(None if paused.next else state, config)
    while waiting := graph.get_state(config).interrupts:
        with ThreadPoolExecutor(len(waiting)) as pool:
            answers = pool.map(decide, waiting)
            resume = {each.id: answer for each, answer in zip(waiting, answers, strict=True)}
        graph.invoke(Command(resume=resume), config)
    return graph.get_state(config).values


def ask(client: Client, thread: str) -> Decide:
    """Asks what a node passes to `interrupt`. `thread` is the thread_id of the graph."""

    def decide(asked: Interrupt) -> dict[str, Any]:
        resume = name_question(thread, asked.id, asked.value)
        answer = client.ask(**asked.value, resume=resume)
        return {"value": answer.value, "by_human": answer.by_human, "comment": answer.comment}

    return decide


def name_question(*parts: Any) -> str:
    """Names a question by what it is about, so that a process that starts again finds it."""
    text = json.dumps(parts, sort_keys=True, default=str)
    return "langgraph-" + hashlib.sha256(text.encode()).hexdigest()[:40]
