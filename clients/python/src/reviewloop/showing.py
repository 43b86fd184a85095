"""Writes requests for a person in a terminal: colours there, plain text in a pipe or a file."""

from __future__ import annotations

import json
import os
import sys
from datetime import datetime, timezone
from typing import Any

from reviewloop.invisible import clean
from reviewloop.types import ListedReview, Review

MAX_TEXT = 60  # characters of the question in a list
BOLD, DIM, RED, YELLOW, GREEN = "1", "2", "31", "33", "32"
OF_PRIORITY = {"critical": RED, "high": YELLOW}
OF_RISK = {"high": RED, "medium": YELLOW}


def has_colours() -> bool:
    """Tells whether the output is a terminal whose user has not set NO_COLOR."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def paint(text: str, *codes: str) -> str:
    """Colours the text, where the output has colours."""
    return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if codes and has_colours() else text


def shorten(text: str) -> str:
    """Returns the beginning of a text in one line."""
    line = clean(" ".join(text.split()))
    return line if len(line) <= MAX_TEXT else line[: MAX_TEXT - 1] + "…"


def write_json(value: Any) -> str:
    return clean(json.dumps(value, indent=2, ensure_ascii=False))


def format_left(moment: str) -> str:
    """Returns the time until a moment of the API, such as `4m`, `2h` or `3d`."""
    end = datetime.fromisoformat(moment.replace("Z", "+00:00"))
    seconds = max(0, int((end - datetime.now(timezone.utc)).total_seconds()))
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= 2 * size or (unit == "m" and seconds >= size):
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def describe_row(row: ListedReview) -> str:
    """Returns a line: id, priority, time left, loop and question."""
    priority = row["priority"]
    colour = [OF_PRIORITY[priority]] if priority in OF_PRIORITY else []
    words = [
        paint(row["id"], BOLD),
        paint(f"{priority:<8}", *colour),
        f"{format_left(row['timeout_at']):>4}",
        shorten(row["loop_name"]),
        shorten(row["request_text"]),
    ]
    line = "  ".join(words)
    return line if row["may_answer"] else f"{line}  {paint('(somebody else is on it)', DIM)}"


def describe(request: Review) -> str:
    """Returns a whole request: its question, what may be answered, and what became of it."""
    lines = [
        paint(clean(request["request_text"]), BOLD),
        "",
        fact("Id", request["id"]),
        fact("Loop", clean(request["loop_name"])),
        fact("Priority", request["priority"], OF_PRIORITY.get(request["priority"])),
        fact("Status", describe_status(request)),
    ]
    if request["image_url"]:
        lines.append(fact("Image", clean(request["image_url"])))
    if request["context"]:
        lines += [fact("Context", ""), write_json(request["context"])]
    lines += describe_choices(request)
    lines.append(fact("If nobody answers", write_value(request["default_response"])))
    return "\n".join([*lines, *describe_answers(request)])


def fact(name: str, value: str, colour: str | None = None) -> str:
    """Returns a line. Line breaks of the value are written out, else it could be several facts."""
    name, value = (text.replace("\n", "‹U+000A›") for text in (name, value))
    return f"{paint(f'{name}:', DIM)} {paint(value, colour) if colour else value}".rstrip()


def write_value(value: Any) -> str:
    """Returns an answer in one line."""
    return clean(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def describe_status(request: Review) -> str:
    status = request["status"]
    if status in ("pending", "claimed"):
        left = f"{status}, {format_left(request['timeout_at'])} left"
        return left if request["may_answer"] else f"{left}, not for you now"
    return status


def describe_choices(request: Review) -> list[str]:
    """Returns what can be answered: the call of an approval, options, or the configuration."""
    config = request["response_config"]
    proposal = config.get("proposal")
    if request["response_type"] == "approval" and proposal:
        risk = proposal.get("risk")
        return [
            fact("Call", paint(clean(proposal["name"]), BOLD)),
            write_json(proposal.get("arguments", {})),
            *([fact("Risk", risk, OF_RISK.get(risk))] if risk else []),
            fact("Answer", ", ".join(config.get("actions", ["approve", "reject"]))),
        ]
    options = config.get("options")
    if options:
        values = [each["value"] if isinstance(each, dict) else each for each in options]
        return [fact("Answer", clean(", ".join(map(str, values))))]
    return [fact("Answer", request["response_type"]), *([write_json(config)] if config else [])]


def describe_answers(request: Review) -> list[str]:
    """Returns the answers that may be seen: that of the request, and those of its policy."""
    lines = []
    if request["response_data"] is not None:
        lines.append(fact("Answered", write_value(request["response_data"]), GREEN))
    for given in request.get("answers", []):
        lines.append(
            fact(
                clean(given["response_by_user"]["name"]),
                write_value(given["response_data"]),
            )
        )
    own = request["your_answer"]
    if own and request["response_data"] is None:
        lines.append(fact("You answered", write_value(own["response_data"]), GREEN))
    return lines
