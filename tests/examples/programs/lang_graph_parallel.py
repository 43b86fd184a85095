"""Two nodes that ask at the same time, the first of them twice, and what they got as JSON."""

import json
from typing import Any, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt
from langgraph_interrupt import ask, run
from reviewloop import Client


class State(TypedDict, total=False):
    colours: list[Any]
    size: Any


def choose_colours(state: State) -> State:
    choice = {"question": "Which colour?", "options": ["red", "blue"], "default": "red"}
    return {"colours": [interrupt(choice), interrupt({**choice, "question": "Which other?"})]}


def choose_size(state: State) -> State:
    scale = {"response_type": "rating", "response_config": {"scale_max": 5}}
    return {"size": interrupt({"question": "Which size?", "default": 1, **scale})}


graph = StateGraph(State).add_node(choose_colours).add_node(choose_size)
graph.add_edge(START, "choose_colours").add_edge(START, "choose_size")
config = {"configurable": {"thread_id": "1"}}
compiled = graph.compile(checkpointer=InMemorySaver())
print(json.dumps(run(compiled, {}, config, ask(Client(), "1"))))
