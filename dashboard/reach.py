"""Describes whom a request reached, and in one sentence why nobody answered it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from accounts.sign_in_codes import can_send
from reviews.lifecycle import states
from reviews.models import Request
from reviews.queries.reach import Reach, Reviewer, read_reach
from web.bidi import isolate
from web.languages import translate
from webhooks.failure_texts import find_phrase


@dataclass(frozen=True, slots=True)
class Fact:
    """An event between a request and a reviewer; `at` is None if it has no time."""

    symbol: str
    text: str
    at: datetime | None = None


def build(request: Request) -> dict[str, Any]:
    """Builds the section of the request's page."""
    reach = read_reach(request)
    people = [(name_of(each), list(list_facts(request, each, reach))) for each in reach.reviewers]
    return {
        "title": _("Why it timed out") if is_unanswered(request) else _("Reviewers"),
        "sentence": summarize(request, reach),
        "people": people,
        "more": reach.total - len(people),
        "is_recorded": reach.is_recorded,
    }


def is_unanswered(request: Request) -> bool:
    """Tells whether the request ended without any answer. Without an outcome it may have some."""
    return request.status == states.TIMEOUT and not request.answers_received


def summarize(request: Request, reach: Reach) -> str:
    """Returns the sentence above the list."""
    if not reach.total:
        return _("Nobody could answer it: the loop had no active members.")
    is_open = request.status in states.OPEN
    if reach.claimed and request.status != states.COMPLETED:
        return _summarize_claims(request, reach)
    if not reach.opened:
        return _explain_silence(reach, is_open=is_open)
    parts = [_("%(reviewers)s opened it") % {"reviewers": _some(reach.opened, reach.total)}]
    if reach.skipped:
        parts.append(_("%(count)s skipped it") % {"count": reach.skipped})
    if is_unanswered(request):
        parts.append(_("nobody answered"))
    return ", ".join(parts) + "."


def _summarize_claims(request: Request, reach: Reach) -> str:
    """Describes the claims; the list begins with the last one."""
    names = isolate(name_of(reach.reviewers[0]))
    if request.status == states.CLAIMED:
        return _("%(name)s is on it.") % {"name": names}
    if reach.claimed > 1:
        names = _("%(name)s and %(count)s more") % {"name": names, "count": reach.claimed - 1}
    sentences = {
        states.PENDING: _("%(names)s claimed it, but released it."),
        states.CANCELLED: _("%(names)s claimed it, before it was cancelled."),
    }
    unanswered = _("%(names)s claimed it, but didn’t answer.")
    return sentences.get(request.status, unanswered) % {"names": names}


def _explain_silence(reach: Reach, *, is_open: bool) -> str:
    """Explains that nobody opened it, and who could be notified, as far as still recorded."""
    what = _("Nobody has opened it yet") if is_open else _("Nobody opened it")
    if not reach.is_recorded:
        return f"{what}."
    missing, total = reach.without_device, reach.total
    if missing == total == 1:
        why = _("the only reviewer has no device for notifications")
    elif missing == total:
        why = _("none of the %(count)s reviewers has a device for notifications") % {"count": total}
    elif missing:
        some = {"reviewers": _some(missing, total)}
        why = ngettext(
            "%(reviewers)s has no device for notifications",
            "%(reviewers)s have no device for notifications",
            missing,
        )
        why %= some
    else:
        why = _("%(reviewers)s got a notification") % {"reviewers": _some(reach.notified, total)}
    sentence = f"{what}: {why}."
    if missing and reach.mailed and can_send():
        sentence += " " + _("%(count)s got an email.") % {"count": reach.mailed}
    return sentence


def _some(count: int, total: int) -> str:
    text = ngettext("%(count)s of %(total)s reviewer", "%(count)s of %(total)s reviewers", total)
    return text % {"count": count, "total": total}


def list_facts(request: Request, reviewer: Reviewer, reach: Reach) -> Iterator[Fact]:
    """Lists the facts in their usual order."""
    if reviewer.is_late:
        yield Fact("user-plus", _("Joined after it was sent"), reviewer.joined_at)
    elif reach.is_recorded:
        yield from _list_notifications(request, reviewer)
    for symbol, text, at in (
        ("eye", _("Opened"), reviewer.opened_at),
        ("player-skip-forward", _("Skipped"), reviewer.skipped_at),
        ("hand-stop", _("Claimed"), reviewer.claimed_at),
    ):
        if at:
            yield Fact(symbol, text, at)
    if not reviewer.opened_at:
        yield Fact("eye-off", _("Not opened"))


def _list_notifications(request: Request, reviewer: Reviewer) -> Iterator[Fact]:
    if not reviewer.devices:
        yield Fact("bell-off", _("No device for notifications"))
    if reviewer.pushes:
        text = ngettext(
            "Notified on %(count)s device", "Notified on %(count)s devices", reviewer.pushes
        )
        yield Fact("bell", text % {"count": reviewer.pushes}, reviewer.pushed_at)
    if reviewer.mailed_at:
        text = _("Email sent") if can_send() else _("Email written to the log, not sent")
        yield Fact("mail", text, reviewer.mailed_at)
    if reviewer.is_waiting:
        is_open = request.status in states.OPEN
        sending = _("A notification is being sent")
        late = _("A notification wasn’t sent in time")
        yield Fact("hourglass", sending if is_open else late)
    if reviewer.error:
        yield Fact(
            "alert-triangle",
            _("A notification failed: %(error)s")
            % {"error": isolate(translate(find_phrase(reviewer.error)))},
        )


def name_of(reviewer: Reviewer) -> str:
    return User(name=reviewer.name, email=reviewer.email).get_short_name()
