"""`reviewloop ask`: asks a question and prints the answer."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, cast

from reviewloop.answers import Answer
from reviewloop.client import Client
from reviewloop.durations import RULE
from reviewloop.errors import Cancelled
from reviewloop.invisible import clean
from reviewloop.option_values import (
    check_name,
    check_timeout,
    read_form,
    read_object,
    read_options,
    read_pair,
    read_unique_object,
)
from reviewloop.types import Value

HUMAN, DEFAULT, CANCELLED, REJECTED = 0, 3, 4, 5  # exit codes
TYPES = ("text", "single_select", "multi_select", "rating", "number", "form", "approval")
ACTIONS = ("approve", "edit", "reject", "respond")
NOBODY = {"action": "reject"}  # the default of a proposed call


def add_ask(ask: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    ask.add_argument("question", help="Markdown, at most 2000 characters")
    ask.add_argument("--default", help="the answer if nobody answers in time")
    add_approval(ask)
    add_type(ask)
    ask.add_argument("--timeout", type=check_timeout, default="1h", help=f"{RULE} (1h)")
    ask.add_argument("--loop", help="name or id of the loop (else the only one you have)")
    add_details(ask)
    ask.add_argument(
        "--resume",
        metavar="NAME",
        type=check_name,
        help="find the question of this name (or file) again",
    )
    ask.add_argument("--json", action="store_true", help="print JSON")
    ask.set_defaults(run=run_ask, check=check_ask)


def add_approval(ask: argparse.ArgumentParser) -> None:
    """Adds the options with which the question is about a call."""
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


def add_type(ask: argparse.ArgumentParser) -> None:
    """Adds the options that say what an answer is."""
    ask.add_argument("--options", type=read_options, help="such as yes,no (default: a text)")
    kind = ask.add_mutually_exclusive_group()
    kind.add_argument("--type", choices=TYPES, help="the type of the answer")
    kind.add_argument(
        "--form", metavar="FILE", type=read_form, help="a JSON Schema: the answer is a form of it"
    )
    ask.add_argument(
        "--config", type=read_unique_object, help='its settings as JSON: {"scale_max": 5}'
    )


def add_details(ask: argparse.ArgumentParser) -> None:
    """Adds the options of what a request has beside its question and answer."""
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
    said = {"schema": args.form, "proposal": args.approve, "actions": args.actions}
    for name, value in said.items():
        if value is not None and name in (args.config or ()):
            parser.error(f"--config must not have {name}: another option says it")


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
        return {"schema": args.form, **(args.config or {})}
    if args.approve is None:
        return cast("dict[str, Any] | None", args.config)
    proposal = {"name": args.approve, "arguments": args.arguments or {}}
    if args.risk:
        proposal["risk"] = args.risk
    actions = {} if args.actions is None else {"actions": args.actions}
    return {"proposal": proposal, **actions, **(args.config or {})}


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


def print_answer(answer: Answer) -> None:
    """Prints the answer; of an approval only the arguments that may run go to the output."""
    decision = answer.decision
    if answer.arguments is not None:
        print(json.dumps(answer.arguments, ensure_ascii=False))
    elif decision:
        message = decision.get("message")
        done = "replied" if decision["action"] == "respond" else "rejected"
        words = f"{done}: {clean(message)}" if message else done
        print(f"reviewloop: {words}", file=sys.stderr)
    else:
        print(format_value(answer.value))


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
