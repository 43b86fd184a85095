"""`reviewloop listen`: prints events as they happen."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from reviewloop.client import Client
from reviewloop.events import RESET, StreamEvent

MAX_TEXT = 60  # characters of the question


def add_listen(listen: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    listen.add_argument("--json", action="store_true", help="print each event as a JSON object")
    listen.add_argument("--after", metavar="ID", help="begin behind this event (three days back)")
    listen.set_defaults(run=run_listen)


def run_listen(client: Client, args: argparse.Namespace) -> int:
    """Prints a line for each event until Ctrl-C or the end of a reading pipe."""
    try:
        with client.events(args.after) as stream:
            print("Listening", file=sys.stderr, flush=True)
            for event in stream:
                if event.name == RESET:
                    print(f"reviewloop: {event.body['detail']}", file=sys.stderr, flush=True)
                if args.json:
                    print(json.dumps({"id": event.id, **event.body}), flush=True)
                elif event.name != RESET:
                    print(describe(event), flush=True)
    except KeyboardInterrupt:
        pass
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def describe(event: StreamEvent) -> str:
    """Returns a line such as `10:42:05 request.completed 019d… "refund" Refund order 1042?`"""
    body = event.body
    words = [body["timestamp"][11:19], f"{event.name:<17}", body["request_id"]]
    answer = body["response_data"]
    if answer is not None:
        words.append(json.dumps(answer, ensure_ascii=False))
    words.append(shorten(body["data"]["request"]))
    return " ".join(words)


def shorten(request: dict[str, Any]) -> str:
    """Returns the beginning of the question, without line breaks and control characters."""
    text = " ".join(str(request["request_text"]).split())
    printable = "".join(letter for letter in text if letter.isprintable())
    return printable if len(printable) <= MAX_TEXT else printable[: MAX_TEXT - 1] + "…"
