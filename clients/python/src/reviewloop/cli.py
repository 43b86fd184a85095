"""The command `reviewloop`."""

from __future__ import annotations

import argparse
import io
import logging
import sys
from collections.abc import Sequence
from typing import NoReturn

from reviewloop.ask_command import add_ask, print_json
from reviewloop.client import Client
from reviewloop.errors import ReviewLoopError
from reviewloop.hooks.command import HELP, run_command
from reviewloop.listening import add_listen
from reviewloop.mcp_gate.command import add_mcp_gate
from reviewloop.option_values import read_unique_object
from reviewloop.reviewing import add_review_commands
from reviewloop.transport import __version__

ERROR, INTERRUPTED = 1, 130  # exit codes; those of ask are in `ask_command`
ENDING = """\
REVIEW_LOOP_URL is the service's address, such as http://127.0.0.1:8000/v1, and REVIEW_LOOP_KEY
an API key. inbox, show, answer and watch are for the person who answers: they read
REVIEW_LOOP_REVIEW_TOKEN instead, a review token. Do not give one to the program that asks.

exit codes of ask: 0 a person answered, with --approve: approved, and the arguments that may run
are printed; 3 nobody did and this is the default, 4 cancelled, 5 with --approve: a person rejected
the call or replied, 1 error, 2 wrong usage
"""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the command and ends the process."""
    print_any_text()
    words = sys.argv[1:] if arguments is None else list(arguments)
    if words[:1] == ["hook"]:
        sys.exit(run_command(words[1:]))
    parser = build_parser()
    args = parser.parse_args(words)
    if "check" in args:
        args.check(parser, args)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    logging.getLogger("urllib3").setLevel(logging.ERROR)
    try:
        with getattr(args, "connect", Client)() as client:
            sys.exit(args.run(client, args))
    except (ReviewLoopError, OSError) as error:
        print(f"reviewloop: {error}", file=sys.stderr)
        sys.exit(ERROR)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def print_any_text() -> None:
    """Lets both outputs accept all characters: UTF-8 in a pipe or file, else the terminal's
    encoding.

    A terminal shows a character that its encoding lacks as `\\u2713`.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="reviewloop",
        description="Asks people for a decision through Review Loop.",
        epilog=ENDING,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"reviewloop {__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    add_ask(commands.add_parser("ask", help="ask a question and print the answer"))
    loops = commands.add_parser("loops", help="list your loops")
    loops.add_argument("--json", action="store_true", help="print JSON")
    loops.set_defaults(run=run_loops)
    add_redeem(commands.add_parser("redeem", help="redeem an approval, once, before you run it"))
    commands.add_parser("hook", help=HELP)  # its words go to run_command
    add_listen(commands.add_parser("listen", help="print events as they happen, until Ctrl-C"))
    add_review_commands(commands)
    add_mcp_gate(commands.add_parser("mcp-gate", help="stand before an MCP server, and ask first"))
    return parser


def add_redeem(redeem: argparse.ArgumentParser) -> None:
    redeem.add_argument("request", metavar="ID", help="id of the request")
    redeem.add_argument(
        "--arguments",
        required=True,
        type=read_unique_object,
        help="a JSON object: what you are about to run",
    )
    redeem.add_argument("--name", help="the name of the call that you are about to run")
    redeem.add_argument("--json", action="store_true", help="print JSON")
    redeem.set_defaults(run=run_redeem)


def run_redeem(client: Client, args: argparse.Namespace) -> int:
    """Prints the receipt."""
    receipt = client.requests.redeem(args.request, args.arguments, name=args.name)
    if args.json:
        print_json(receipt)
    else:
        print(receipt["receipt"])
    return 0


def run_loops(client: Client, args: argparse.Namespace) -> int:
    """Prints the loops."""
    loops = list(client.loops.list())
    if args.json:
        print_json(loops)
        return 0
    for loop in loops:
        active = loop["member_count"] - loop["pending_count"]
        print(f"{loop['id']}  {active:>4} active  {loop['name']}")
    return 0
