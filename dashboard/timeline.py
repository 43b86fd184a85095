"""The history of a request, read from its row and its events."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import ApiKey, User
from reviews import policy
from reviews.lifecycle import states
from reviews.models import Receipt, Request
from web.bidi import isolate
from web.humanize import format_duration
from webhooks.models import Delivery

HAND = "hand-stop"
INSTANT = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Step:
    """An event in the history; `at` is None if it is still to come."""

    at: datetime | None
    title: str
    detail: str = ""
    symbol: str = "circle-dashed"
    went: str = ""  # "well", "wrong" or "" (neither)
    comment: str = ""


def build(request: Request, deliveries: list[Any], receipt: Receipt | None = None) -> list[Step]:
    """Builds the steps in order of time. `deliveries` are the request's, in any order."""
    steps = [
        Step(request.created_at, _("Created"), _format_source(request), symbol="plus"),
        Step(
            request.created_at,
            _format_audience(request),
            _format_notifications(request),
            symbol="bell",
        ),
        *(_build_claim(delivery, request) for delivery in deliveries if _is_claim(delivery)),
    ]
    if request.claimed_at and request.claimed_by:
        steps.append(
            Step(
                request.claimed_at,
                _("Claimed by %(name)s") % {"name": isolate(format_name(request.claimed_by))},
                symbol=HAND,
            )
        )
    steps.append(_build_end(request))
    if receipt and receipt.redeemed_at and receipt.redeemed_with:
        steps.append(_build_redemption(receipt.redeemed_at, receipt.redeemed_with))
    steps.extend(_build_delivery(each) for each in deliveries if each.delivered_at)
    unique = {(step.at, step.title): step for step in steps}  # shows a claim once
    return sorted(
        unique.values(), key=lambda step: (step.at is None, step.at or request.created_at)
    )


def format_name(person: User) -> str:
    return person.get_short_name()


def _format_source(request: Request) -> str:
    if request.api_key:
        names = {"name": isolate(request.api_key.name), "way": isolate(request.asked_through)}
        if request.asked_through:
            return _("Asked through %(way)s with the key %(name)s") % names
        return _("Via the API with the key %(name)s") % names
    platforms = {"api": _("Via the API"), "web_portal": _("Via the dashboard")}
    by = _("By %(platform)s") % {"platform": request.platform}
    return platforms.get(request.platform, by)


def _format_audience(request: Request) -> str:
    count = request.broadcasted_to
    return ngettext("Sent to %(count)s member", "Sent to %(count)s members", count) % {
        "count": count
    }


def _format_notifications(request: Request) -> str:
    count = request.notifications_sent
    if not count:
        return ""
    return ngettext("%(count)s push notification", "%(count)s push notifications", count) % {
        "count": count
    }


def _is_claim(delivery: Any) -> bool:
    return bool(delivery.event == states.CLAIM.event)


def _build_claim(delivery: Any, request: Request) -> Step:
    """Builds the step of a claim from its event; the row has only the last claim."""
    at: datetime = delivery.created_at
    if request.claimed_by and request.claimed_at and abs(at - request.claimed_at) < INSTANT:
        return Step(
            request.claimed_at,
            _("Claimed by %(name)s") % {"name": isolate(format_name(request.claimed_by))},
            symbol=HAND,
        )
    return Step(at, _("Claimed"), symbol=HAND)


def _build_end(request: Request) -> Step:
    if request.status == states.COMPLETED and request.response_at and request.response_by:
        took = format_duration((request.response_at - request.created_at).total_seconds())
        who = _("Answered by %(name)s after %(took)s") % {
            "name": isolate(format_name(request.response_by)),
            "took": took,
        }
        answer = request.format_answer(request.response_data)
        comment = request.response_comment or ""
        return Step(
            request.response_at, who, answer, comment=comment, symbol="circle-check", went="well"
        )
    if request.status == states.TIMEOUT:
        default = request.format_answer(request.default_response)
        words = _("The default response was used: %(default)s") % {"default": default}
        title = {
            policy.NO_AGREEMENT: _("Ended without agreement"),
            policy.UNREACHABLE: _("Ended because too few people were left"),
        }.get(request.outcome or "", _("Timed out"))
        return Step(request.timeout_at, title, words, symbol="clock", went="wrong")
    if request.status == states.CANCELLED:
        newer = _("A newer version replaced it.") if request.superseded_by_id else ""
        return Step(request.updated_at, _("Cancelled"), newer, symbol="ban")
    return Step(None, _("Waiting for an answer"), symbol="hourglass")


def _build_redemption(at: datetime, key: ApiKey) -> Step:
    words = _("With the key %(name)s") % {"name": isolate(key.name)}
    return Step(at, _("Approval redeemed"), words, symbol="key", went="well")


def _build_delivery(delivery: Delivery) -> Step:
    title = _("%(event)s delivered") % {"event": delivery.event}
    return Step(delivery.delivered_at, title, delivery.host, symbol="send", went="well")
