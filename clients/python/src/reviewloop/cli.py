"""The command `reviewloop`."""

from __future__ import annotations

import argparse
import io
import json
import logging
import sys
from collections.abc import Sequence
from typing import Any, NoReturn, cast

from reviewloop.answers import Answer
from reviewloop.client import Client
from reviewloop.durations import RULE, read_seconds
from reviewloop.errors import Cancelled, ReviewLoopError
from reviewloop.hooks.command import HELP, run_command
from reviewloop.listening import add_listen
from reviewloop.mcp_gate.command import add_mcp_gate
from reviewloop.reviewing import add_review_commands
from reviewloop.transport import __version__
from reviewloop.typed_json import read_object, read_unique_object
from reviewloop.types import Value

HUMAN, ERROR, DEFAULT, CANCELLED, REJECTED, INTERRUPTED = 0, 1, 3, 4, 5, 130
ENDING = """\
REVIEW_LOOP_URL is the service's address, such as http://127.0.0.1:8000/v1, and REVIEW_LOOP_KEY
an API key. inbox, show, answer and watch are for the person who answers: they read
REVIEW_LOOP_REVIEW_TOKEN instead, a review token. Do not give one to the program that asks.

exit codes of ask: 0 a person answered, with --approve: approved, and the arguments that may run
are printed; 3 nobody did and this is the default, 4 cancelled, 5 with --approve: a person rejected
the call or replied, 1 error, 2 wrong usage
"""
TYPES = ("text", "single_select", "multi_select", "rating", "number", "form", "approval")
ACTIONS = ("approve", "edit", "reject", "respond")
NOBODY = {"action": "reject"}  # the default of a proposed call


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


def add_ask(ask: argparse.ArgumentParser) -> None:
    ask.add_argument("question", help="Markdown, at most 2000 characters")
    ask.add_argument("--default", help="the answer if nobody answers in time")
    ask.add_argument(
        "--approve", metavar="NAME", type=check_name, help="ask for approval to call NAME"
    )
    ask.add_argument(
        "--arguments", metavar="JSON", type=read_unique_object, help="what --approve calls it with"
    )
    ask.add_argument(
        "--actions",
        type=read_options,
        help=f"what people may do, of {','.join(ACTIONS)} (default: approve,reject)",
    )
    ask.add_argument("--risk", choices=("low", "medium", "high"), help="shown with --approve")
    ask.add_argument("--options", type=read_options, help="such as yes,no (default: a text)")
    kind = ask.add_mutually_exclusive_group()
    kind.add_argument("--type", choices=TYPES, help="the type of the answer")
    kind.add_argument(
        "--form", metavar="FILE", type=read_form, help="a JSON Schema: the answer is a form of it"
    )
    ask.add_argument(
        "--config", type=read_unique_object, help='its settings as JSON: {"scale_max": 5}'
    )
    ask.add_argument("--timeout", type=check_timeout, default="1h", help=f"{RULE} (1h)")
    ask.add_argument("--loop", help="name or id of the loop (else the only one you have)")
    ask.add_argument("--priority", choices=("low", "medium", "high", "critical"), default="medium")
    ask.add_argument("--context", type=read_object, help="a JSON object for the reviewers")
    ask.add_argument(
        "--metadata",
        metavar="KEY=VALUE",
        type=read_pair,
        action="append",
        help="a name of your own for the question, which reviewers do not see; may be repeated",
    )
    ask.add_argument(
        "--replaces",
        metavar="ID",
        help="the request that this one is the next version of; cancelled if it is open",
    )
    ask.add_argument(
        "--policy",
        metavar="JSON",
        type=read_object,
        help='how many people decide: {"rule": "majority", "answers": 3}',
    )
    ask.add_argument(
        "--resume",
        metavar="NAME",
        type=check_name,
        help="find the question of this name (or file) again",
    )
    ask.add_argument("--json", action="store_true", help="print JSON")
    ask.set_defaults(run=run_ask, check=check_ask)


def check_ask(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Ends the process for options that do not fit together."""
    if args.approve is None:
        if args.default is None:
            parser.error("the following arguments are required: --default")
        if args.arguments is not None or args.actions is not None or args.risk is not None:
            parser.error("--arguments, --actions and --risk need --approve")
    elif (args.options, args.form, args.type) != (None, None, None):
        parser.error("--approve has no --options, --form and --type")
    elif args.default is not None:
        parser.error("--approve needs no --default: if nobody answers, the call is rejected")


def run_ask(client: Client, args: argparse.Namespace) -> int:
    """Prints the answer and returns the exit code."""
    try:
        answer = client.ask(
            args.question,
            default=read_default(args),
            options=args.options,
            response_type=find_type(args),
            response_config=build_config(args),
            timeout=args.timeout,
            loop=args.loop,
            resume=args.resume,
            priority=args.priority,
            context=args.context,
            metadata=dict(args.metadata) if args.metadata else None,
            replaces=args.replaces,
            policy=args.policy,
        )
    except Cancelled as error:
        if args.json:
            by = {"superseded_by": error.superseded_by} if error.superseded_by else {}
            print_json({"status": "cancelled", "request_id": error.request_id, **by})
        else:
            print(f"reviewloop: {error}", file=sys.stderr)
        return CANCELLED
    if args.json:
        print_json(describe(answer))
    else:
        print_answer(answer)
    if not answer.by_human:
        return DEFAULT
    return REJECTED if answer.decision and answer.arguments is None else HUMAN


def build_config(args: argparse.Namespace) -> dict[str, Any] | None:
    """Builds the settings of the answer from the options of its type, and --config."""
    if args.form is not None:
        return {"schema": args.form}
    if args.approve is None:
        return cast("dict[str, Any] | None", args.config)
    proposal = {"name": args.approve, "arguments": args.arguments or {}}
    if args.risk:
        proposal["risk"] = args.risk
    actions = {} if args.actions is None else {"actions": args.actions}
    return {"proposal": proposal, **actions, **(args.config or {})}


def print_answer(answer: Answer) -> None:
    """Prints the answer; of an approval only the arguments that may run go to the output."""
    decision = answer.decision
    if answer.arguments is not None:
        print(json.dumps(answer.arguments, ensure_ascii=False))
    elif decision:
        message = decision.get("message")
        done = "replied" if decision["action"] == "respond" else "rejected"
        print(
            f"reviewloop: {done}: {message}" if message else f"reviewloop: {done}", file=sys.stderr
        )
    else:
        print(format_value(answer.value))


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


def describe(answer: Answer) -> dict[str, Any]:
    return {
        "status": answer.request["status"],
        "value": answer.value,
        "by_human": answer.by_human,
        "comment": answer.comment,
        "request_id": answer.request_id,
    }


def format_value(value: Value) -> str:
    """Writes several values with commas, as in --options, and a form as JSON in one line."""
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return ",".join(value) if isinstance(value, list) else str(value)


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2))


def find_type(args: argparse.Namespace) -> str | None:
    if args.approve is not None:
        return "approval"
    return cast("str | None", args.type) if args.form is None else "form"


def read_default(args: argparse.Namespace) -> Any:
    """Reads --default as a value of the response type."""
    kind = find_type(args)
    if args.approve is not None:
        return NOBODY
    if kind in ("rating", "number", "form", "approval"):
        try:
            value = json.loads(args.default)
            json.dumps(value, allow_nan=False)
        except ValueError:
            return args.default  # the API reports the error
        return value
    if kind == "multi_select":
        return read_options(args.default)
    return args.default


def read_options(text: str) -> list[str]:
    options = [option.strip() for option in text.split(",")]
    if not all(options):
        raise argparse.ArgumentTypeError("an option is empty")
    return options


def read_form(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            return read_object(file.read())
    except (OSError, UnicodeDecodeError) as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def read_pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise argparse.ArgumentTypeError("not KEY=VALUE")
    return key, value


def check_name(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return text


def check_timeout(text: str) -> str:
    try:
        read_seconds(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text
