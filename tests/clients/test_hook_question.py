"""The question of `reviewloop hook`, and what becomes of an edit: without a service."""

import json
from typing import Any

import pytest
from reviewloop.answers import Answer
from reviewloop.hooks.calls import Silence, read_call
from reviewloop.hooks.hosts import CLAUDE, CODEX, Host
from reviewloop.hooks.masks import Masks
from reviewloop.hooks.question import ACTIONS, Decision, build_question, split

from tests.clients.hooks import COMMAND, call


def build(host: Host, masks: Masks | None = None, **changes: Any) -> dict[str, Any]:
    given = read_call(json.dumps(call(host.name, **changes)).encode())
    arguments, told = split(given)
    return build_question(host, given, arguments, told, masks or Masks(given.input), ACTIONS)


def test_what_the_question_says() -> None:
    assert build(CLAUDE)["request_text"] == "**Claude Code** wants to use `Bash` in `shop`."
    assert build(CODEX)["request_text"] == (
        "**Codex** wants to use `Bash` in `shop`.\n\n"
        "Codex takes no edits: it is denied, and told what you would run."
    )
    assert build(CLAUDE, cwd="/")["request_text"] == "**Claude Code** wants to use `Bash`."


def test_a_name_is_code_in_one_short_line() -> None:
    asked = build(CLAUDE, cwd="/home/ada/a`b\n# c" + "d" * 200)
    name = "a'b # c" + "d" * 93
    assert asked["request_text"] == f"**Claude Code** wants to use `Bash` in `{name}`."


def test_many_masks_leave_the_sentences() -> None:
    """The service takes 2,000 characters."""
    masks = Masks({})
    masks.hide([f"ghp_{number:030}" for number in range(200)])
    text = build(CODEX, masks, cwd="/" + "a" * 300)["request_text"]
    assert "An edit has to leave masks as they are" in text
    assert text.endswith("told what you would run.")
    assert len(text) < 1000


@pytest.mark.parametrize(
    ("tool", "description", "is_told"),
    [("Bash", "Remove it", True), ("Bash", 7, False), ("mcp__shop__rename", "Remove it", False)],
)
def test_only_what_the_model_says_about_its_shell_command_is_no_argument(
    tool: str, description: Any, is_told: bool
) -> None:
    asked = build(CLAUDE, tool_name=tool, tool_input={**COMMAND, "description": description})
    proposed = asked["response_config"]["proposal"]["arguments"]
    assert ("description" in asked["context"]) == is_told
    assert ("description" in proposed) != is_told


def tell(given: dict[str, Any], decided: dict[str, Any], comment: str | None = None) -> str:
    """What Codex is told."""
    made = read_call(json.dumps(call(tool_name="mcp__shop__set", tool_input=given)).encode())
    request: Any = {"id": "r", "response_type": "approval"}
    answer = Answer(decided, by_human=True, comment=comment, request=request)
    output = Decision(CODEX, made, given, Masks(given), "run").tell(answer)
    message: str = output["hookSpecificOutput"]["decision"]["message"]
    return message


def test_an_edit_of_a_value_that_python_takes_for_equal() -> None:
    told = tell({"n": 1, "on": 0}, {"action": "edit", "arguments": {"n": True, "on": 0}})
    assert told.endswith("instead: n: true")


@pytest.mark.parametrize("arguments", [{}, {"n": 1, "on": 0}])
def test_an_edit_with_other_arguments_decides_nothing(arguments: dict[str, Any]) -> None:
    with pytest.raises(Silence, match="other arguments"):
        tell({"n": 1}, {"action": "edit", "arguments": arguments})


def test_a_comment_is_a_reason() -> None:
    told = tell({"n": 1}, {"action": "reject"}, "Too late.")
    assert told == "A person rejected this call: Too late."
