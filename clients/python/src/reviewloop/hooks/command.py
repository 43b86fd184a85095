"""The command `reviewloop hook`."""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from reviewloop.durations import read_seconds
from reviewloop.errors import ReviewLoopError
from reviewloop.hooks import credentials
from reviewloop.hooks.calls import MOST_READ, Call, Silence, read_call
from reviewloop.hooks.hosts import ASKING, HOSTS, Host, describe_changes, tell_model

HELP = "let people approve what Claude Code and Codex want to do"
ERROR, INTERRUPTED = 1, 130
EDITS = ("run", "say", "none")


class QuietParser(argparse.ArgumentParser):
    """A parser that ends with 0 for wrong options: Codex takes 2, the usual code, as a decision."""

    def error(self, message: str) -> NoReturn:
        print(f"reviewloop: {message}", file=sys.stderr)
        sys.exit(0)


def run_command(words: Sequence[str]) -> int:
    """Runs `reviewloop hook` with these words and returns the exit code."""
    if os.name == "nt":
        print("reviewloop: hook works on Linux and macOS, and in WSL", file=sys.stderr)
        return 0 if words and words[0] in HOSTS else ERROR
    if words and words[0] in HOSTS:
        parser = QuietParser(prog=f"reviewloop hook {words[0]}")
        add_asking(parser)
        return run_hook(HOSTS[words[0]], parser.parse_args(words[1:]))
    args = build_parser().parse_args(words)
    try:
        if "run" in args:
            return int(args.run(args))
        from reviewloop.hooks.prompting import serve

        return serve(words[1:])
    except (ReviewLoopError, OSError) as error:
        print(f"reviewloop: {error}", file=sys.stderr)
        return ERROR
    except KeyboardInterrupt:
        return INTERRUPTED


def build_parser() -> argparse.ArgumentParser:
    from reviewloop.hooks import installing

    parser = argparse.ArgumentParser(
        prog="reviewloop hook",
        description="Lets people approve what Claude Code and Codex want to do.",
    )
    commands = parser.add_subparsers(required=True, metavar="command")
    for host in HOSTS.values():
        commands.add_parser(host.name, help=f"what {host.title} runs: asks about the call on stdin")
    add_asking(commands.add_parser("mcp", help="the permission prompt of `claude -p`, over stdio"))
    for name, help_text, run in (
        ("install", "add the hook to the agent's own file", installing.install),
        ("uninstall", "take it out again", installing.uninstall),
        ("test", "ask a harmless question through the installed hook", installing.try_out),
    ):
        command = commands.add_parser(name, help=help_text)
        command.add_argument("host", choices=list(HOSTS), metavar="claude|codex")
        command.add_argument(
            "--project",
            metavar="FOLDER",
            type=Path,
            nargs="?",
            const=Path(),
            help="the file of a project (default: of this one), not that of your account",
        )
        command.set_defaults(run=run)
        if name == "install":
            add_asking(command)
            command.add_argument(
                "--tools", metavar="NAMES", help="ask about these only, such as Bash,Edit,mcp__.*"
            )
    return parser


def add_asking(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the hook itself, which `install` writes into the command."""
    parser.add_argument("--loop", help="name or id of the loop (else the only one you have)")
    parser.add_argument(
        "--timeout", type=check_timeout, default="1h", help="60s to 24h, then the agent asks (1h)"
    )
    parser.add_argument("--no-mask", action="store_true", help="send keys and passwords, too")
    parser.add_argument(
        "--edits",
        choices=EDITS,
        default="run",
        help="run an edited call, or deny it and say what a person would run, or offer none (run)",
    )
    parser.add_argument(
        "--credentials",
        metavar="FILE",
        type=Path,
        default=credentials.find_file(),
        help="file with the address and the key (~/.config/reviewloop/hook.json)",
    )


def run_hook(host: Host, args: argparse.Namespace) -> int:
    """Prints the decision, or one line on stderr: then the agent asks at its own prompt."""
    logging.disable()
    try:
        output = decide(host, sys.stdin.buffer.read(MOST_READ + 1), args)
        if output:
            with open(1, "wb", closefd=False) as stdout:
                stdout.write(json.dumps(output).encode() + b"\n")
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # whatever it is: silence, and never a traceback
        sentence = " ".join(f"{error or type(error).__name__}".split())
        print(f"reviewloop: {sentence}", file=sys.stderr)
    return 0


def decide(host: Host, raw: bytes, args: argparse.Namespace) -> dict[str, object] | None:
    """Returns what the hook prints, or None. Raises Silence, ReviewLoopError."""
    call = read_call(raw)
    if call.event not in host.events:
        raise Silence(f"{call.event} is no event of this hook")
    if call.tool in host.own_prompts:
        return None
    if call.event == ASKING:
        from reviewloop.hooks.question import ask_about

        return ask_about(host, call, args)
    return follow_up(call)


def follow_up(call: Call) -> dict[str, object] | None:
    """Handles the event after a call of Claude Code has run (see `waiting`)."""
    from reviewloop.hooks import waiting

    names = waiting.take_note(call)
    if names is None:
        waiting.end_waiting(call)
    if not names:
        return None
    changed = {name: call.input.get(name) for name in names}
    return tell_model(
        call.event,
        "A person edited this call before they approved it, and it ran as edited. "
        f"It ran with {describe_changes(changed)}",
    )


def check_timeout(text: str) -> str:
    try:
        if read_seconds(text) is None:
            raise ValueError(f"{text!r}: a hook waits 24 hours at most")
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text
