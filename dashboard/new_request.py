"""Asking people without a program, and seeing how a program would."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError
from django.http import HttpResponse
from django.shortcuts import redirect, render

from accounts.quota import Account
from dashboard import request_examples
from dashboard.access import Stale, action, form_page
from dashboard.forms.new_request import QuestionForm
from dashboard.loop_choices import offered_loops
from reviews import services
from web import form_tokens
from web.form_recovery import recoverable, refill
from web.guards import SignedInRequest

PURPOSE = "request"


@recoverable
@form_page
def new(request: SignedInRequest) -> HttpResponse:
    form = question_form(request)
    if request.method != "POST":
        refill(request, form, "new-request")
        return question_page(request, form)
    if "show-curl" in request.POST:
        return question_page(request, form.unjudged())
    if not form.is_valid():
        return question_page(request, form, status=422)
    made_id = form_tokens.read(form.cleaned_data["once"], PURPOSE, request.user.pk)
    try:
        made = services.create_request(
            loop_id=form.cleaned_data["loop"],
            account=acting(request),
            fields=form.cleaned_data["fields"],
            request_id=made_id,
        )
    except IntegrityError:  # sent before
        return redirect("request", request_id=made_id)
    except services.LoopGone:
        raise Stale("That loop was deleted. Nothing was sent.") from None
    count = made.broadcasted_to
    messages.success(request, f"Asked {count} member{'' if count == 1 else 's'}.")
    return redirect("request", request_id=made.pk)


@action("new-request")
def preview(request: SignedInRequest) -> HttpResponse:
    """The command for what is typed so far: a fragment, for the page that is being typed on."""
    context = {"curl": curl_of(question_form(request))}
    return render(request, "dashboard/requests/_curl.html", context)


def question_form(request: SignedInRequest) -> QuestionForm:
    wanted = request.POST.get("loop") or request.GET.get("loop", "")
    loops = offered_loops(request.user.pk, wanted)
    initial: dict[str, Any] = {"once": form_tokens.issue(PURPOSE, request.user.pk)}
    chosen = [loop.pk for loop in loops if loop.pk == wanted]
    initial["loop"] = next(iter([*chosen, *(loop.pk for loop in loops)]), "")
    return QuestionForm(request.POST or None, loops=loops, initial=initial)


def question_page(
    request: SignedInRequest, form: QuestionForm, *, status: int = 200
) -> HttpResponse:
    context: dict[str, Any] = {"form": form, "curl": curl_of(form)}
    return render(request, "dashboard/requests/new.html", context, status=status)


def curl_of(form: QuestionForm) -> str:
    loop_id = form["loop"].value() or "LOOP_ID"
    url = f"{settings.SITE_URL}/v1/api/loops/{loop_id}/requests"
    return request_examples.curl(url, {**form.body(), "platform": "api"})


def acting(request: SignedInRequest) -> Account:
    """The person as the services know a caller."""
    user = request.user
    return Account(id=user.pk, email=user.email, name=user.name, is_active=user.is_active)
