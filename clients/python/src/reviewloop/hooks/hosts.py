"""The coding agents: the files with their hooks, and the output that they read as a decision.

All of it was measured with the real programs, Claude Code 2.1 and Codex 0.169.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ASKING = "PermissionRequest"
DONE = ("PostToolUse", "PostToolUseFailure")
ENTRY_SECONDS = 90_000  # longer than the longest question (24 h), and below what both agents take


@dataclass(frozen=True)
class Host:
    """A coding agent. `own_prompts` are the tools with which it asks its own user."""

    name: str
    title: str
    events: tuple[str, ...]
    takes_edits: bool
    own_prompts: frozenset[str]
    user_file: str  # below the home
    project_file: str  # below the project
    root_names: frozenset[str] | None  # what the file may have; None is anything
    handler_extras: tuple[tuple[str, str], ...] = ()

    def find_file(self, project: Path | None) -> Path:
        if project is None:
            return Path.home() / self.user_file
        return project.absolute() / self.project_file

    def build_handler(self, command: str) -> dict[str, Any]:
        return {
            "type": "command",
            "command": command,
            "timeout": ENTRY_SECONDS,
            **dict(self.handler_extras),
        }


CLAUDE = Host(
    name="claude",
    title="Claude Code",
    events=(ASKING, *DONE),
    takes_edits=True,
    own_prompts=frozenset({"AskUserQuestion", "ExitPlanMode"}),
    user_file=".claude/settings.json",
    project_file=".claude/settings.local.json",
    root_names=None,
)
CODEX = Host(
    name="codex",
    title="Codex",
    events=(ASKING,),
    takes_edits=False,
    own_prompts=frozenset(),
    user_file=".codex/hooks.json",
    project_file=".codex/hooks.json",
    root_names=frozenset({"hooks", "description"}),
    handler_extras=(("statusMessage", "Waiting for Review Loop"),),
)
HOSTS = {host.name: host for host in (CLAUDE, CODEX)}


def allow(edited: dict[str, Any] | None = None) -> dict[str, Any]:
    """Builds an approval. It has no key without an edit: Claude Code drops one with a null."""
    change = {} if edited is None else {"updatedInput": edited}
    return _build(ASKING, decision={"behavior": "allow", **change})


def deny(host: Host, message: str) -> dict[str, Any]:
    if host is CODEX:  # it passes the message on with every line break escaped
        message = " ".join(message.splitlines())
    return _build(ASKING, decision={"behavior": "deny", "message": message})


def tell_model(event: str, context: str) -> dict[str, Any]:
    return _build(event, additionalContext=context)


def describe_changes(arguments: dict[str, Any]) -> str:
    """Writes arguments as `command: ls -l; timeout: 5`."""
    return "; ".join(
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in arguments.items()
    )


def _build(event: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}
