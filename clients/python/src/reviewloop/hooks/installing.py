"""`reviewloop hook install`, `uninstall` and `test`."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from reviewloop.client import Client
from reviewloop.errors import ConfigurationError
from reviewloop.hooks import credentials
from reviewloop.hooks.hosts import ASKING, CODEX, HOSTS, Host
from reviewloop.hooks.settings import Settings

PATIENCE = 10.0  # seconds
TRUST = (
    "Codex runs it once you trust it: start codex, and choose “Trust all” or press t in /hooks. "
    "It holds for sessions started afterwards."
)
RUNNING = "Sessions that are running use it from their next call on."
OFF = 'It also has "disableAllHooks": true, so the hook does not run until you remove that.'
SAMPLE = {
    "command": "echo 'Review Loop works.'",
    "description": "A test of the hook: nothing runs.",
}


def install(args: Namespace) -> int:
    host: Host = HOSTS[args.host]
    settings = Settings(host, host.find_file(args.project))
    has_matcher = {"matcher": read_matcher(args.tools)} if args.tools else {}
    group = {**has_matcher, "hooks": [host.build_handler(build_command(args))]}
    for event in host.events:
        settings.put(event, group)
    save_credentials(args)
    describe_loop(args)
    backup = settings.save()
    print(f"{settings.path} has the hook of {host.title}.")
    if backup:
        print(f"What it was before is in {backup}.")
    if settings.runs_no_hooks:
        print(OFF)
    else:
        print(TRUST if host is CODEX else RUNNING)
    print(f"Try it: reviewloop hook test {host.name}{' --project' if args.project else ''}")
    return 0


def uninstall(args: Namespace) -> int:
    host: Host = HOSTS[args.host]
    settings = Settings(host, host.find_file(args.project))
    for event in host.events:
        settings.take_out(event)
    backup = settings.save()
    print(f"{settings.path} has no hook of Review Loop.")
    if backup:
        print(f"What it was before is in {backup}.")
    return 0


def try_out(args: Namespace) -> int:
    """Runs the installed command as the agent would, and prints the decision."""
    host: Host = HOSTS[args.host]
    settings = Settings(host, host.find_file(args.project))
    commands = settings.find_commands(ASKING)
    if not commands:
        raise ConfigurationError(
            f"{settings.path} has no hook of Review Loop: reviewloop hook install {host.name}"
        )
    call = {
        "hook_event_name": ASKING,
        "session_id": "reviewloop hook test",
        "tool_name": "Bash",
        "tool_input": SAMPLE,
        "cwd": os.getcwd(),
    }
    print("Asking. Approve it on your phone, or wherever you review.", file=sys.stderr)
    done = subprocess.run(  # noqa: S603 (the command that the agent runs, in the same way)
        ["/bin/sh", "-c", commands[0]],
        input=json.dumps(call).encode(),
        stdout=subprocess.PIPE,
        check=False,
    )
    if not done.stdout:
        print("No decision: the agent would ask at its own prompt.", file=sys.stderr)
        return 1
    print(describe(json.loads(done.stdout)["hookSpecificOutput"]["decision"]))
    return 0


def describe(decision: dict[str, Any]) -> str:
    if decision["behavior"] == "deny":
        return f"Denied. The agent is told: {decision['message']}"
    if "updatedInput" in decision:
        return f"Allowed with an edit: {json.dumps(decision['updatedInput'], ensure_ascii=False)}"
    return "Allowed."


def build_command(args: Namespace) -> str:
    """Writes the command with the options that differ from the defaults.

    Its text stays the same over versions: Codex asks for trust again at every change.
    """
    words = [find_program(), "hook", args.host]
    if args.loop:
        words += ["--loop", args.loop]
    if args.timeout != "1h":
        words += ["--timeout", args.timeout]
    if args.edits != "run":
        words += ["--edits", args.edits]
    if args.no_mask:
        words.append("--no-mask")
    if args.credentials != credentials.find_file():
        words += ["--credentials", os.path.abspath(args.credentials)]
    return shlex.join(words)


def find_program() -> str:
    """Returns the path of `reviewloop` as it was called.

    A link, such as one in ~/.local/bin, is not resolved: it stays when its target moves.
    """
    for path in (sys.argv[0], shutil.which("reviewloop")):
        if path and os.path.basename(path) == "reviewloop":
            return os.path.abspath(path)
    raise ConfigurationError(
        "there is no command `reviewloop` in PATH: pip install ./clients/python"
    )


def read_matcher(tools: str) -> str:
    names = [name.strip() for name in tools.split(",")]
    for name in names:
        try:
            re.compile(name)
        except re.error as error:
            raise ConfigurationError(f"--tools {name!r}: {error}") from None
    if not all(names):
        raise ConfigurationError("--tools: a name is empty")
    return "|".join(names)


def save_credentials(args: Namespace) -> None:
    """Stores the address and the key of the environment; without them the file has to exist."""
    path: Path = args.credentials
    if os.environ.get("REVIEW_LOOP_URL") and os.environ.get("REVIEW_LOOP_KEY"):
        with Client(patience=PATIENCE) as client:
            client.check()
            url = client.url
        credentials.store(path, url, os.environ["REVIEW_LOOP_KEY"].strip())
        print(f"{path} has the address and the key. Only you can read it.")
    elif not path.exists():
        credentials.load(path)  # raises ConfigurationError, which says what to set


def describe_loop(args: Namespace) -> None:
    """Prints which loop the hook asks, and how people join it."""
    url, key = credentials.load(args.credentials)
    with Client(url, key, patience=PATIENCE) as client:
        loop = client.loops.get(client.loops.find(args.loop)["id"])
    active = loop["member_count"] - loop["pending_count"]
    print(f"It asks the loop {loop['name']!r}, with {active} active.")
    print(f"People join at {loop['join_url']}, by this QR code: {loop['qr_code_url']}")
