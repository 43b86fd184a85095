"""Says whom a request reached, and in one sentence why nobody answered it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from accounts.models import User
from reviews.lifecycle import states
from reviews.models import Request
from reviews.queries.reach import Reach, Reviewer, read_reach


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that happened between a request and a reviewer; `at` is None for no time."""

    symbol: str
    text: str
    at: datetime | None = None


def build(request: Request) -> dict[str, Any]:
    """Builds the section of the request's page."""
    reach = read_reach(request)
    people = [(name_of(each), list(list_facts(request, each, reach))) for each in reach.reviewers]
    is_timeout = request.status == states.TIMEOUT
    return {
        "title": "Why it timed out" if is_timeout else "Reviewers",
        "sentence": summarize(request, reach),
        "people": people,
        "more": reach.total - len(people),
        "is_recorded": reach.is_recorded,
    }


def summarize(request: Request, reach: Reach) -> str:
    """Returns the sentence above the list."""
    if not reach.total:
        return "Nobody could answer it: the loop had no active members."
    is_open = request.status in states.OPEN
    if reach.claimed and request.status != states.COMPLETED:
        return _summarize_claims(request, reach)
    if not reach.opened:
        yet = " has opened it yet" if is_open else " opened it"
        return f"Nobody{yet}{_explain_silence(reach)}."
    opened = f"{_some(reach.opened, reach.total)} opened it"
    if reach.skipped:
        opened += f", {reach.skipped} skipped it"
    return f"{opened}." if request.status != states.TIMEOUT else f"{opened}, nobody answered."


def _summarize_claims(request: Request, reach: Reach) -> str:
    """Says who claimed it; the list begins with the last claim."""
    last = name_of(reach.reviewers[0])
    if request.status == states.CLAIMED:
        return f"{last} is on it."
    others = f" and {reach.claimed - 1} more" if reach.claimed > 1 else ""
    ends = {states.PENDING: "but released it", states.CANCELLED: "before it was cancelled"}
    return f"{last}{others} claimed it, {ends.get(request.status, 'but didn’t answer')}."


def _explain_silence(reach: Reach) -> str:
    """Says who could be told, as far as it is still recorded."""
    if not reach.is_recorded:
        return ""
    mailed = f". {reach.mailed} got an email" if reach.mailed else ""
    missing, total = reach.without_device, reach.total
    if missing == total == 1:
        return f": the only reviewer has no device for notifications{mailed}"
    if missing == total:
        return f": none of the {total} reviewers has a device for notifications{mailed}"
    if missing:
        verb = "has" if missing == 1 else "have"
        return f": {_some(missing, total)} {verb} no device for notifications{mailed}"
    return f": {_some(reach.told, total)} got a notification"


def _some(count: int, total: int) -> str:
    return f"{count} of {total} reviewer{'' if total == 1 else 's'}"


def list_facts(request: Request, reviewer: Reviewer, reach: Reach) -> Iterator[Fact]:
    """Lists what happened, in the order in which it usually does."""
    if reviewer.is_late:
        yield Fact("user-plus", "Joined after it was sent", reviewer.joined_at)
    elif reach.is_recorded:
        yield from _list_notifications(request, reviewer)
    for symbol, text, at in (
        ("eye", "Opened", reviewer.opened_at),
        ("player-skip-forward", "Skipped", reviewer.skipped_at),
        ("hand-stop", "Claimed", reviewer.claimed_at),
    ):
        if at:
            yield Fact(symbol, text, at)
    if not reviewer.opened_at:
        yield Fact("eye-off", "Not opened")


def _list_notifications(request: Request, reviewer: Reviewer) -> Iterator[Fact]:
    if not reviewer.devices:
        yield Fact("bell-off", "No device for notifications")
    if reviewer.pushes:
        devices = f"{reviewer.pushes} devices" if reviewer.pushes > 1 else "1 device"
        yield Fact("bell", f"Notified on {devices}", reviewer.pushed_at)
    if reviewer.mailed_at:
        yield Fact("mail", "Email sent", reviewer.mailed_at)
    if reviewer.is_waiting:
        is_open = request.status in states.OPEN
        text = "A notification is being sent" if is_open else "A notification wasn’t sent in time"
        yield Fact("hourglass", text)
    if reviewer.error:
        yield Fact("alert-triangle", f"A notification failed: {reviewer.error}")


def name_of(reviewer: Reviewer) -> str:
    return User(name=reviewer.name, email=reviewer.email).get_short_name()
