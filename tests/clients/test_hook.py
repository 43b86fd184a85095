"""`reviewloop hook`: what a coding agent gets for what people decide."""

import json
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from loops.models import Loop
from reviews.models import Request
from reviews.services import answer_request
from tests.clients.conftest import answer, asked, let_time_run_out
from tests.clients.gate import Gate
from tests.clients.hooks import COMMAND, Agent, call, decision, outcome
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

HOSTS = pytest.mark.parametrize("host", ["claude", "codex"])
RUN = {"command": "rm -rf build", "timeout": 5000}  # what people decide about


@pytest.fixture
def agent(gate: Gate, key: str, tmp_path: Path) -> Agent:
    return Agent(gate.url, key, tmp_path / "home")


@HOSTS
def test_a_person_approves(agent: Agent, loop: Loop, member: User, host: str) -> None:
    asking = agent.start(host, call(host))
    request = answer({"action": "approve"}, member)
    assert decision(asking) == {"behavior": "allow"}
    assert request.response_type == "approval"
    title = {"claude": "Claude Code", "codex": "Codex"}[host]
    assert request.request_text.startswith(f"**{title}** wants to use `Bash` in `shop`.")
    assert request.response_config == {
        "proposal": {"name": "Bash", "arguments": RUN},
        "actions": ["approve", "edit", "reject", "respond"],
    }
    assert request.default_response == {"action": "reject"}
    assert request.timeout_seconds == 3600
    assert request.context == {
        "agent": title,
        "folder": "shop",
        "description": "Remove the build folder",
    }


@HOSTS
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"action": "reject"}, "A person rejected this call."),
        (
            {"action": "reject", "message": 'Use make clean.\nÄ "q"'},
            'A person rejected this call: Use make clean.{line}Ä "q"',
        ),
        (
            {"action": "respond", "message": "Why now?"},
            "Not run. A person replied: Why now?",
        ),
    ],
)
def test_a_person_does_not(
    agent: Agent, loop: Loop, member: User, host: str, given: dict[str, str], told: str
) -> None:
    asking = agent.start(host, call(host))
    answer(given, member)
    line = {"claude": "\n", "codex": " "}[host]
    assert decision(asking) == {"behavior": "deny", "message": told.replace("{line}", line)}


EDIT = {"action": "edit", "arguments": {"command": "rm -rf build/tmp", "timeout": 5000}}


@pytest.mark.parametrize("event", ["PostToolUse", "PostToolUseFailure"])
def test_an_edit_runs_in_claude_code_and_the_model_is_told(
    agent: Agent, loop: Loop, member: User, event: str
) -> None:
    asking = agent.start("claude", call())
    answer(EDIT, member)
    edited = {**COMMAND, "command": "rm -rf build/tmp"}
    assert decision(asking) == {"behavior": "allow", "updatedInput": edited}
    other = call(event=event, tool_input=edited, session_id="s-2")
    assert agent.run("claude", other) == ("", "")
    whole = {"originalFile": "x" * 2**20}  # is no part of the call, which may have 1 MiB
    done = call(event=event, tool_input=edited, tool_use_id="u-1", tool_response=whole)
    printed, _ = agent.run("claude", done)
    assert json.loads(printed)["hookSpecificOutput"] == {
        "hookEventName": event,
        "additionalContext": "A person edited this call before they approved it, and it ran as "
        "edited. It ran with command: rm -rf build/tmp",
    }
    assert agent.run("claude", done) == ("", "")


@pytest.mark.parametrize(("host", "options"), [("claude", ("--edits", "say")), ("codex", ())])
def test_an_edit_is_told_to_the_model_instead(
    agent: Agent, loop: Loop, member: User, host: str, options: tuple[str, ...]
) -> None:
    asking = agent.start(host, call(host), *options)
    edited = {"command": "cd build &&\nrm *", "timeout": 1}
    answer({"action": "edit", "arguments": edited}, member)
    line = {"claude": "\n", "codex": " "}[host]
    assert decision(asking) == {
        "behavior": "deny",
        "message": "Not run as it is. A person would run it with this instead: "
        f"command: cd build &&{line}rm *; timeout: 1",
    }


@HOSTS
def test_no_edits_are_offered(agent: Agent, loop: Loop, member: User, host: str) -> None:
    asking = agent.start(host, call(host), "--edits", "none")
    request = answer({"action": "approve"}, member)
    assert request.response_config["actions"] == ["approve", "reject", "respond"]
    assert "edits" not in request.request_text
    assert decision(asking) == {"behavior": "allow"}


@HOSTS
def test_nobody_answers(agent: Agent, loop: Loop, host: str) -> None:
    asking = agent.start(host, call(host))
    let_time_run_out(asked())
    printed, complaints = outcome(asking)
    assert printed == ""
    assert complaints.count("\n") == 1
    assert "Nobody answered request" in complaints


@HOSTS
@pytest.mark.parametrize(
    ("url", "used_key", "sentence"),
    [
        ("http://127.0.0.1:9/v1", None, "http://127.0.0.1:9/v1"),
        (None, "rl_live_nonsense", "Invalid API key"),
        ("nowhere", None, "is no address"),
    ],
)
def test_the_service_is_not_there(
    agent: Agent, loop: Loop, host: str, url: str | None, used_key: str | None, sentence: str
) -> None:
    agent.store(url or agent.url, used_key or agent.key)
    printed, complaints = agent.run(host, call(host))
    assert (printed, complaints.count("\n")) == ("", 1)
    assert sentence in complaints


def test_there_are_no_credentials(agent: Agent) -> None:
    (agent.home / ".config" / "reviewloop" / "hook.json").unlink()
    printed, complaints = agent.run("claude", call())
    assert printed == ""
    assert complaints.startswith("reviewloop: REVIEW_LOOP_URL is not set")


def test_two_equal_calls_are_two_questions(agent: Agent, loop: Loop, member: User) -> None:
    first, second = (agent.start("codex", call("codex")) for _ in range(2))
    wait_until(lambda: Request.objects.count() == 2, 30)
    approved, open_one = Request.objects.order_by("pk")
    answer_request(request=approved, reviewer_id=member.pk, answer={"action": "approve"})
    wait_until(lambda: first.poll() is not None or second.poll() is not None, 30)
    assert Request.objects.get(pk=open_one.pk).status == "pending"
    done, waiting = (first, second) if first.poll() is not None else (second, first)
    assert decision(done) == {"behavior": "allow"}
    assert waiting.poll() is None
    answer_request(request=open_one, reviewer_id=member.pk, answer={"action": "reject"})
    assert decision(waiting)["behavior"] == "deny"


BIG = json.dumps(call(tool_input={"command": "x" * 5_000_000})).encode()


@HOSTS
@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe{", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "not a JSON object"),
        (BIG, "at most 1048576"),
        (call(event="SessionEnd"), "SessionEnd is no event"),
        (call(hook_event_name=None), "hook_event_name of the input is no string"),
        (call(tool_name=7), "tool_name of the input is no string"),
        (call(tool_input="rm -rf build"), "tool_input of the input is no object"),
        (call(tool_input={"n": 2**60}), "Invalid response configuration"),
        (call(tool_input={"n": float("nan")}), "not JSON compliant"),
        (call(tool_name=" "), "Invalid response configuration"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_no_agent_sends(
    agent: Agent, loop: Loop, host: str, given: Any, sentence: str
) -> None:
    printed, complaints = agent.run(host, given)
    assert (printed, complaints.count("\n")) == ("", 1)
    assert sentence in complaints
    assert not Request.objects.exists()


def test_options_that_this_version_does_not_know(agent: Agent, loop: Loop) -> None:
    """Codex takes 2, the usual exit code, for a decision."""
    printed, complaints = agent.run("codex", call("codex"), "--of-a-newer-version")
    assert (printed, complaints.count("\n")) == ("", 1)
    assert "--of-a-newer-version" in complaints


def test_unknown_names_are_ignored(agent: Agent, loop: Loop, member: User) -> None:
    asking = agent.start("claude", call(of_a_newer_version={"a": [1]}))
    answer({"action": "approve"}, member)
    assert decision(asking) == {"behavior": "allow"}


@pytest.mark.parametrize("tool", ["AskUserQuestion", "ExitPlanMode"])
def test_what_claude_code_asks_its_user_passes(agent: Agent, loop: Loop, tool: str) -> None:
    assert agent.run("claude", call(tool_name=tool, tool_input={"plan": "…"})) == ("", "")
    assert not Request.objects.exists()


SECRETS = {
    "command": 'curl -H "Authorization: Bearer abcd1234efgh" https://ada:hunter22@example.com',
    "env": {"API_KEY": "k-55555555", "PATH": "/bin"},
    "timeout": 5000,
}
MASKED = {
    "command": 'curl -H "Authorization: Bearer [masked 1]" https://ada:[masked 2]@example.com',
    "env": {"API_KEY": "[masked 3]", "PATH": "/bin"},
    "timeout": 5000,
}


def test_secrets_are_masked_and_put_back(
    agent: Agent, loop: Loop, member: User, gate: Gate
) -> None:
    asking = agent.start("claude", call(tool_input=SECRETS))
    request = asked()
    assert request.response_config["proposal"]["arguments"] == MASKED
    assert "[masked 1], [masked 2], [masked 3]" in request.request_text
    around = MASKED["command"] + " -v"  # type: ignore[operator]
    edited = {"action": "edit", "arguments": {**MASKED, "command": around, "timeout": 1}}
    answer(edited, member)
    assert decision(asking)["updatedInput"] == {
        **SECRETS,
        "command": f"{SECRETS['command']} -v",
        "timeout": 1,
    }
    for secret in (b"abcd1234efgh", b"hunter22", b"k-55555555"):
        assert not any(secret in sent for sent in gate.sent)


def test_secrets_beside_the_arguments_are_masked(
    agent: Agent, loop: Loop, member: User, gate: Gate
) -> None:
    secret = "ghp_1234567890AbCdEfGh"
    told = {**COMMAND, "description": f"As {secret}"}
    asking = agent.start("claude", call(tool_input=told, cwd=f"/home/ada/{secret}"))
    request = answer({"action": "approve"}, member)
    assert decision(asking) == {"behavior": "allow"}
    assert request.context == {
        "agent": "Claude Code",
        "folder": "[masked 1]",
        "description": "As [masked 1]",
    }
    assert not any(secret.encode() in sent for sent in gate.sent)


@HOSTS
@pytest.mark.parametrize("command", ["curl", MASKED["command"] * 2, "curl [masked 1]"])  # type: ignore[operator]
def test_an_edit_that_touches_a_mask_is_denied(
    agent: Agent, loop: Loop, member: User, host: str, command: str
) -> None:
    asking = agent.start(host, call(host, tool_input=SECRETS))
    answer({"action": "edit", "arguments": {**MASKED, "command": command}}, member)
    assert decision(asking) == {
        "behavior": "deny",
        "message": "Not run. A person edited command, but the edit touches a value that was "
        "masked for them, so it cannot be put back.",
    }


@pytest.mark.parametrize(
    ("command", "edited", "runs"),
    [
        ("echo '[masked 7]'", "echo", "echo"),  # no mask of ours
        (
            "curl https://ada:hunter22@a.example https://ada:hunter33@b.example",
            "curl https://ada:[masked 2]@b.example https://ada:[masked 1]@a.example",
            "curl https://ada:hunter33@b.example https://ada:hunter22@a.example",
        ),
    ],
)
def test_an_edit_that_keeps_every_mask_runs(
    agent: Agent, loop: Loop, member: User, command: str, edited: str, runs: str
) -> None:
    asking = agent.start("claude", call(tool_input={"command": command}))
    answer({"action": "edit", "arguments": {"command": edited}}, member)
    assert decision(asking) == {"behavior": "allow", "updatedInput": {"command": runs}}


def test_masks_are_an_option(agent: Agent, loop: Loop, member: User) -> None:
    asking = agent.start("claude", call(tool_input=SECRETS), "--no-mask")
    request = answer({"action": "approve"}, member)
    assert decision(asking) == {"behavior": "allow"}
    assert request.response_config["proposal"]["arguments"] == SECRETS
    assert "masked" not in request.request_text


def test_nothing_of_the_environment_is_sent(
    agent: Agent, loop: Loop, member: User, gate: Gate
) -> None:
    agent.environment = {
        "ANTHROPIC_API_KEY": "of-the-environment-1",
        "CLAUDE_PROJECT_DIR": "/of-the-environment-2",
        "USER": "of-the-environment-3",
        "REVIEW_LOOP_KEY": "rl_live_of-the-environment-4",
    }
    asking = agent.start("claude", call())
    answer({"action": "approve"}, member)
    assert decision(asking) == {"behavior": "allow"}
    everything = b"\n".join(gate.sent)
    assert b"rm -rf build" in everything
    assert b"of-the-environment" not in everything
    for private in (b"/home/ada", b"s-1", str(agent.home).encode()):
        assert private not in everything
