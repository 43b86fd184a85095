"""Runs `reviewloop hook` as coding agents do: by a shell, in a session of its own."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.clients.conftest import SOURCE, finish

COMMAND: dict[str, Any] = {
    "command": "rm -rf build",
    "description": "Remove the build folder",
    "timeout": 5000,
}


def call(host: str = "claude", event: str = "PermissionRequest", **changes: Any) -> dict[str, Any]:
    """What an agent sends, with the names that were seen of the real ones."""
    own: dict[str, dict[str, Any]] = {
        "claude": {"prompt_id": "p-1", "effort": {"level": "high"}, "permission_suggestions": []},
        "codex": {"turn_id": "t-1", "model": "gpt-5"},
    }
    return {
        "session_id": "s-1",
        "transcript_path": "/home/ada/.agent/s-1.jsonl",
        "cwd": "/home/ada/src/shop",
        "permission_mode": "default",
        "hook_event_name": event,
        "tool_name": "Bash",
        "tool_input": COMMAND,
        **own[host],
        **changes,
    }


@dataclass
class Agent:
    """`home` has the credentials; nothing of Review Loop is in the environment."""

    url: str
    key: str
    home: Path
    stdout: int = subprocess.PIPE
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.home.mkdir()
        self.store(self.url, self.key)

    def store(self, url: str, key: str) -> None:
        folder = self.home / ".config" / "reviewloop"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "hook.json").write_text(json.dumps({"url": url, "key": key}))

    @property
    def variables(self) -> dict[str, str]:
        return {
            "PATH": f"{self.program.parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "PYTHONPATH": str(SOURCE),
            **self.environment,
        }

    @property
    def program(self) -> Path:
        """The command, as it is installed: not found by the folder in which it runs."""
        path = self.home / "bin" / "reviewloop"
        if not path.exists():
            path.parent.mkdir()
            path.write_text(f"#!{sys.executable}\nfrom reviewloop.cli import main\nmain()\n")
            path.chmod(0o755)
        return path

    def start(self, host: str, given: Any, *options: str) -> "subprocess.Popen[str]":
        raw = given if isinstance(given, bytes) else json.dumps(given).encode()
        file = self.home / "stdin"
        file.write_bytes(raw)
        words = " ".join([str(self.program), "hook", host, *options])
        with file.open("rb") as stdin:
            return subprocess.Popen(
                ["/bin/sh", "-c", words],
                cwd=self.home,
                env=self.variables,
                stdin=stdin,
                stdout=self.stdout,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                start_new_session=True,
            )

    def run(self, host: str, given: Any, *options: str) -> tuple[str, str]:
        """What a hook prints that ends by itself; it always ends with 0."""
        return outcome(self.start(host, given, *options))

    def manage(self, *words: str, **environment: str) -> tuple[int, str, str]:
        """Runs `reviewloop hook` by hand."""
        process = subprocess.Popen(
            [str(self.program), "hook", *words],
            cwd=self.home,
            env={**self.variables, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        return finish(process)


def outcome(process: "subprocess.Popen[str]") -> tuple[str, str]:
    code, printed, complaints = finish(process)
    assert code == 0
    return printed, complaints


def decision(process: "subprocess.Popen[str]") -> dict[str, Any]:
    """The decision that a hook printed, with nothing beside it."""
    printed, complaints = outcome(process)
    assert complaints == ""
    output = json.loads(printed)["hookSpecificOutput"]
    assert output.pop("hookEventName") == "PermissionRequest"
    (found,) = output.values()
    assert isinstance(found, dict)
    return found
