"""What has happened to a request, as far as its row and its events tell."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from accounts.models import User
from reviews.lifecycle import states
from reviews.models import Request
from web.humanize import format_duration
from webhooks.models import Delivery

HAND = "hand-stop"
INSTANT = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Step:
    """A moment; `at` is None for what is still to come."""

    at: datetime | None
    title: str
    detail: str = ""
    symbol: str = "circle-dashed"
    went: str = ""  # well, wrong, or neither


def build(request: Request, deliveries: list[Any]) -> list[Step]:
    """The steps in their order; `deliveries` are those of the request, in any order."""
    steps = [
        Step(request.created_at, "Created", _asked_by(request), "plus"),
        Step(request.created_at, _sent_to(request), _notified(request), "bell"),
        *(_claimed_before(delivery, request) for delivery in deliveries if _is_claim(delivery)),
    ]
    if request.claimed_at and request.claimed_by:
        steps.append(Step(request.claimed_at, f"Claimed by {name(request.claimed_by)}", "", HAND))
    steps.append(_end(request))
    steps.extend(_delivered(each) for each in deliveries if each.delivered_at)
    known = {(step.at, step.title): step for step in steps}  # a claim shows once
    return sorted(known.values(), key=lambda step: (step.at is None, step.at or request.created_at))


def name(person: User) -> str:
    return person.get_short_name()


def _asked_by(request: Request) -> str:
    if request.api_key:
        return f"Via the API with the key {request.api_key.name}"
    platforms = {"api": "Via the API", "web_portal": "Via the dashboard"}
    return platforms.get(request.platform, f"By {request.platform}")


def _sent_to(request: Request) -> str:
    count = request.broadcasted_to
    return f"Sent to {count} member{'' if count == 1 else 's'}"


def _notified(request: Request) -> str:
    count = request.notifications_sent
    return f"{count} push notification{'' if count == 1 else 's'}" if count else ""


def _is_claim(delivery: Any) -> bool:
    return bool(delivery.event == states.CLAIM.event)


def _claimed_before(delivery: Any, request: Request) -> Step:
    """A claim that its event remembers, though the row may know a later one."""
    at: datetime = delivery.created_at
    if request.claimed_by and request.claimed_at and abs(at - request.claimed_at) < INSTANT:
        return Step(request.claimed_at, f"Claimed by {name(request.claimed_by)}", "", HAND)
    return Step(at, "Claimed", "", HAND)


def _end(request: Request) -> Step:
    if request.status == states.COMPLETED and request.response_at and request.response_by:
        took = format_duration((request.response_at - request.created_at).total_seconds())
        who = f"Answered by {name(request.response_by)} after {took}"
        answer = request.format_answer(request.response_data)
        return Step(request.response_at, who, answer, "circle-check", "well")
    if request.status == states.TIMEOUT:
        default = request.format_answer(request.default_response)
        words = f"The default response was used: {default}"
        return Step(request.timeout_at, "Timed out", words, "clock", "wrong")
    if request.status == states.CANCELLED:
        return Step(request.updated_at, "Cancelled", "", "ban")
    return Step(None, "Waiting for an answer", "", "hourglass")


def _delivered(delivery: Delivery) -> Step:
    title = f"{delivery.event} delivered"
    return Step(delivery.delivered_at, title, delivery.host, "send", "well")
