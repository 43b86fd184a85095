"""The checklist of a new account: from a loop to a program that asks."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError, connection
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from accounts.services import hide_setup
from dashboard import request_examples
from dashboard.access import Stale, action
from dashboard.forms.loops import LoopForm
from dashboard.new_request import PURPOSE as REQUEST
from dashboard.new_request import build_account
from loops import qr
from loops.icons import ICONS
from loops.models import Loop
from loops.services import create_loop
from reviews import services
from reviews.lifecycle.conditions import in_time
from web import form_tokens
from web.guards import SignedInRequest
from web.languages import translate

LOOP = "loop"
TITLES = {
    "loop": _lazy("Create a loop"),
    "ask": _lazy("Ask yourself a sample question"),
    "answer": _lazy("Answer it on your phone"),
    "key": _lazy("Create an API key"),
    "program": _lazy("Ask from a program"),
}
SAMPLE: dict[str, Any] = {
    **request_examples.QUESTION,
    "priority": "medium",
    "request_text": "**A sample question**\n\nOrder 1042 arrived broken. Refund 80 €?",
    "timeout_seconds": 86400,
    "platform": "web_portal",
}
LOOPBACK = {"localhost", "127.0.0.1", "::1"}
MAX_LOOKED_AT = 1000  # newest requests in which one of a program is looked for

_PROGRESS = f"""
SELECT l.id, l.name,
       (SELECT r.id FROM reviews_request r
         WHERE r.creator_id = %(account)s AND r.status = 'pending' AND {in_time()}
         ORDER BY r.created_at DESC, r.id DESC LIMIT 1),
       EXISTS (SELECT FROM reviews_answer a WHERE a.account_id = %(account)s),
       EXISTS (SELECT FROM accounts_apikey k
                WHERE k.user_id = %(account)s AND k.state = 'active'),
       EXISTS (SELECT FROM (SELECT api_key_id FROM reviews_request r
                             WHERE r.creator_id = %(account)s
                             ORDER BY r.created_at DESC, r.id DESC LIMIT {MAX_LOOKED_AT:d}) newest
                WHERE api_key_id IS NOT NULL)
  FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
       SELECT id, name FROM loops_loop
        WHERE creator_id = %(account)s AND deleted_at IS NULL
        ORDER BY created_at DESC, id DESC LIMIT 1) AS l ON true
"""  # noqa: S608 (nothing in it comes from outside)


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the checklist; `body` is the template of the current step."""

    title: str
    is_done: bool
    body: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of an account. `loop` is its newest loop, `open_id` its newest open request."""

    loop: Loop | None
    open_id: str | None
    is_answered: bool
    has_key: bool
    has_program: bool

    def list_steps(self) -> list[Step]:
        """Lists the steps; the first step not done has a body."""
        done = {
            "loop": self.loop is not None,
            "ask": self.open_id is not None or self.is_answered,
            "answer": self.is_answered,
            "key": self.has_key,
            "program": self.has_program,
        }
        current = next((name for name, is_done in done.items() if not is_done), "")
        return [
            Step(str(title), done[name], f"dashboard/setup/{name}.html" if name == current else "")
            for name, title in TITLES.items()
        ]


def read_progress(account_id: str) -> Progress:
    """Reads the account's progress in one statement."""
    with connection.cursor() as cursor:
        cursor.execute(_PROGRESS, {"account": account_id})
        loop_id, name, open_id, is_answered, has_key, has_program = cursor.fetchone()
    loop = None if loop_id is None else Loop(pk=loop_id, name=name, creator_id=account_id)
    return Progress(loop, open_id, is_answered, has_key, has_program)


def build_checklist(request: SignedInRequest, progress: Progress) -> dict[str, Any] | None:
    """Builds the checklist; None once it is done or hidden."""
    steps = progress.list_steps()
    if request.user.setup_hidden_at or all(step.is_done for step in steps):
        return None
    user = request.user
    return {
        "steps": steps,
        "done": sum(step.is_done for step in steps),
        "loop": progress.loop,
        "loop_name": _("%(name)s’s loop") % {"name": user.get_short_name()[:80]},
        "new_loop": form_tokens.issue(LOOP, user.pk),
        "new_request": form_tokens.issue(REQUEST, user.pk),
        **build_answering(progress, steps),
        "tabs": request_examples.build_first_tabs(progress.loop.pk) if progress.loop else [],
    }


def build_answering(progress: Progress, steps: Sequence[Step]) -> dict[str, Any]:
    """Builds the path of the open question, and a QR code of its URL."""
    if progress.open_id is None or not any("answer.html" in step.body for step in steps):
        return {}
    path = reverse("review", kwargs={"request_id": progress.open_id})
    is_in_reach = urlsplit(settings.SITE_URL).hostname not in LOOPBACK
    return {
        "path": path,
        "qr": qr.render_data_uri(settings.SITE_URL + path) if is_in_reach else "",
        "site": settings.SITE_URL,
    }


@action("overview")
def make_loop(request: SignedInRequest) -> HttpResponse:
    fields = {"name": request.POST.get("name", ""), "icon": ICONS[0]}
    once = request.POST.get("once", "")
    form = LoopForm({**fields, "once": once})
    if not form.is_valid():
        return render(request, "dashboard/loops/new.html", {"form": form}, status=422)
    loop_id = form_tokens.read(once, LOOP, request.user.pk)
    with suppress(IntegrityError):  # this form was sent before
        create_loop(owner_id=request.user.pk, loop_id=loop_id, **fields)
    return redirect_to_checklist()


@action("overview")
def ask(request: SignedInRequest) -> HttpResponse:
    loop = Loop.objects.of_creator(request.user.pk).newest_first().only("pk").first()
    if loop is None:
        return redirect_to_checklist()
    try:
        services.create_request(
            loop_id=loop.pk,
            account=build_account(request),
            fields=SAMPLE,
            request_id=form_tokens.read(request.POST.get("once", ""), REQUEST, request.user.pk),
        )
    except IntegrityError:  # this form was sent before
        pass
    except services.LoopGone:
        raise Stale(_("That loop was deleted. Nothing was sent.")) from None
    except services.Refused as error:
        messages.error(request, translate(error.args[0]))
    return redirect_to_checklist()


@action("overview")
def hide(request: SignedInRequest) -> HttpResponse:
    hide_setup(user=request.user)
    messages.success(request, _("The checklist is hidden."))
    return redirect("overview")


def redirect_to_checklist() -> HttpResponse:
    return redirect(f"{reverse('overview')}#setup")
