"""`reviewloop inbox`, `show`, `answer` and `watch`: a person reviews in the terminal."""

from __future__ import annotations

import argparse
import json
import os
import sys
from contextlib import suppress
from time import sleep
from typing import Any

from reviewloop.errors import ConnectionFailed, RateLimited, ReviewLoopError, ServerFailed
from reviewloop.option_values import read_unique_object
from reviewloop.reviewer import Reviewer
from reviewloop.showing import describe, describe_row, write_value
from reviewloop.types import Review

LEAST_INTERVAL, INTERVAL = 5.0, 10.0  # seconds
AS_JSON = ("rating", "number", "form")
USAGE = 2


class Incomplete(ReviewLoopError):
    """The command lacks a part of the answer."""


def add_review_commands(commands: Any) -> None:
    """Adds the commands of a reviewer, who has a review token instead of an API key."""
    inbox = commands.add_parser("inbox", help="list the questions that wait for you")
    inbox.set_defaults(run=run_inbox)
    show = commands.add_parser("show", help="show a question")
    show.add_argument("request", metavar="ID", help="id of the request")
    show.set_defaults(run=run_show)
    add_answer(commands.add_parser("answer", help="answer a question"))
    watch = commands.add_parser("watch", help="print questions as they arrive, until Ctrl-C")
    watch.add_argument(
        "--interval", type=check_interval, default=INTERVAL, help="seconds between two looks (10)"
    )
    watch.set_defaults(run=run_watch)
    for command in (inbox, watch):
        command.add_argument("--loop", metavar="ID", help="only of this loop")
    for name in ("inbox", "show", "answer", "watch"):
        command = commands.choices[name]
        command.add_argument("--json", action="store_true", help="print JSON")
        command.set_defaults(connect=Reviewer)


def add_answer(answer: argparse.ArgumentParser) -> None:
    answer.add_argument("request", metavar="ID", help="id of the request")
    answer.add_argument(
        "value",
        nargs="?",
        metavar="ANSWER",
        help="text, an option, options with commas, a number, a form as JSON; of an approval: "
        "approve, edit, reject or respond. Without it you are asked",
    )
    answer.add_argument(
        "--arguments",
        metavar="JSON",
        type=read_unique_object,
        help="with edit: all arguments, changed",
    )
    answer.add_argument("--message", help="with reject and respond: a reason or a reply")
    answer.add_argument(
        "--allow",
        metavar="HOURS",
        type=int,
        help="with approve: equal calls then run without asking, for 1 to 8 hours",
    )
    answer.add_argument("--uses", type=int, default=10, help="with --allow: how often at most (10)")
    answer.add_argument(
        "--same",
        metavar="NAMES",
        help="with --allow: arguments that have to be equal, with commas (all)",
    )
    answer.add_argument("--comment", default="", help="words beside the answer")
    answer.set_defaults(run=run_answer)


def run_inbox(reviewer: Reviewer, args: argparse.Namespace) -> int:
    """Prints a line for each question."""
    rows = list(reviewer.inbox(args.loop))
    if args.json:
        print(json.dumps(rows, indent=2))
        return 0
    for row in rows:
        print(describe_row(row))
    if not rows:
        print("No questions wait for you.", file=sys.stderr)
    return 0


def run_show(reviewer: Reviewer, args: argparse.Namespace) -> int:
    """Prints the question."""
    print_request(reviewer.read(args.request), args)
    return 0


def run_answer(reviewer: Reviewer, args: argparse.Namespace) -> int:
    """Sends the answer and prints the result."""
    request = reviewer.read(args.request)
    if args.value is None:
        if not sys.stdin.isatty():
            print("reviewloop: ANSWER is missing, and nobody can be asked", file=sys.stderr)
            return USAGE
        answered = ask_person(reviewer, request, args)
    else:
        answered = reviewer.answer(
            args.request,
            build_answer(request, args, args.value),
            comment=args.comment,
            grant=build_grant(args),
        )
    if args.json:
        print(json.dumps(answered, indent=2))
    elif answered["status"] == "completed":
        print(f"Answered: {write_value(answered['response_data'])}")
    else:
        print("Your answer is stored. The question waits for others.")
    return 0


def ask_person(reviewer: Reviewer, request: Review, args: argparse.Namespace) -> Review:
    """Claims the question, shows it and asks the person; releases it if there is no answer."""
    try:
        print(describe(reviewer.claim(request["id"])))
        value = input("\nYour answer: ").strip()
        if request["response_type"] == "approval" and value == "edit" and args.arguments is None:
            args.arguments = ask_arguments()
        return reviewer.answer(
            request["id"],
            build_answer(request, args, value),
            comment=args.comment,
            grant=build_grant(args),
        )
    except BaseException as error:
        with suppress(ReviewLoopError):  # there is no claim, or no service
            reviewer.release(request["id"])
        if isinstance(error, EOFError):
            raise KeyboardInterrupt from None
        raise


def ask_arguments() -> dict[str, Any]:
    """Asks for the changed arguments until they can be read."""
    while True:
        try:
            return read_unique_object(input("All arguments, changed, as JSON: "))
        except argparse.ArgumentTypeError as error:
            print(error)


def build_answer(request: Review, args: argparse.Namespace, value: str) -> Any:
    """Reads a typed answer as a value of the response type; the service reports what is wrong."""
    kind = request["response_type"]
    if kind == "approval":
        if value == "edit" and args.arguments is None:
            raise Incomplete("edit needs --arguments: all arguments of the call, as JSON")
        decision = {"action": value, "arguments": args.arguments, "message": args.message}
        return {name: part for name, part in decision.items() if part is not None}
    if kind == "multi_select":
        return [option.strip() for option in value.split(",") if option.strip()]
    if kind in AS_JSON:
        with suppress(ValueError):
            parsed = json.loads(value)
            json.dumps(parsed, allow_nan=False)
            return parsed
    return value


def build_grant(args: argparse.Namespace) -> dict[str, Any] | None:
    """Builds the terms of a standing grant from --allow, --uses and --same."""
    if args.allow is None:
        return None
    same = None if args.same is None else [name.strip() for name in args.same.split(",")]
    terms = {"hours": args.allow, "uses": args.uses}
    return terms if same is None else {**terms, "arguments": same}


def run_watch(reviewer: Reviewer, args: argparse.Namespace) -> int:
    """Prints a line for each question that arrives until Ctrl-C or the end of a reading pipe."""
    seen: set[str] = set()
    try:
        print("Watching", file=sys.stderr, flush=True)
        while True:
            try:
                rows = list(reviewer.inbox(args.loop))
            except (ConnectionFailed, RateLimited, ServerFailed) as error:
                print(f"reviewloop: {error}", file=sys.stderr, flush=True)
                sleep(max(args.interval, getattr(error, "retry_after", None) or 0))
                continue
            for row in rows:
                if row["id"] not in seen:
                    print(json.dumps(row) if args.json else describe_row(row), flush=True)
            seen = {row["id"] for row in rows}
            sleep(args.interval)
    except KeyboardInterrupt:
        pass
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def print_request(request: Review, args: argparse.Namespace) -> None:
    print(json.dumps(request, indent=2) if args.json else describe(request))


def check_interval(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError("not a number") from None
    if not LEAST_INTERVAL <= seconds <= 3600:
        raise argparse.ArgumentTypeError(f"at least {LEAST_INTERVAL:.0f} and at most 3600 seconds")
    return seconds
