"""The page that creates a request by hand, and shows the same call in curl."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.quota import Account
from dashboard import request_examples
from dashboard.access import Stale, action, form_page
from dashboard.forms.new_request import NewRequestForm
from dashboard.loop_choices import read_loop_choices
from reviews import services
from web import form_tokens
from web.form_recovery import recoverable, refill
from web.guards import SignedInRequest

PURPOSE = "request"


@recoverable
@form_page
def new(request: SignedInRequest) -> HttpResponse:
    form = build_form(request)
    if request.method != "POST":
        refill(request, form, "new-request")
        return render_form(request, form)
    if "show-curl" in request.POST:
        return render_form(request, form.without_errors())
    if not form.is_valid():
        return render_form(request, form, status=422)
    request_id = form_tokens.read(form.cleaned_data["once"], PURPOSE, request.user.pk)
    try:
        created = services.create_request(
            loop_id=form.cleaned_data["loop"],
            account=build_account(request),
            fields=form.cleaned_data["fields"],
            request_id=request_id,
        )
    except IntegrityError:  # this form was sent before
        return redirect("request", request_id=request_id)
    except services.LoopGone:
        raise Stale(_("That loop was deleted. Nothing was sent.")) from None
    count = created.broadcasted_to
    messages.success(
        request,
        ngettext("Asked %(count)s member.", "Asked %(count)s members.", count) % {"count": count},
    )
    return redirect("request", request_id=created.pk)


@action("new-request")
def preview(request: SignedInRequest) -> HttpResponse:
    """Renders the curl command for the current state of the form, as a fragment of the page."""
    context = {"curl": build_curl(build_form(request))}
    return render(request, "dashboard/requests/_curl.html", context)


def build_form(request: SignedInRequest) -> NewRequestForm:
    wanted = request.POST.get("loop") or request.GET.get("loop", "")
    loops = read_loop_choices(request.user.pk, wanted)
    initial: dict[str, Any] = {"once": form_tokens.issue(PURPOSE, request.user.pk)}
    chosen = [loop.pk for loop in loops if loop.pk == wanted]
    initial["loop"] = next(iter([*chosen, *(loop.pk for loop in loops)]), "")
    return NewRequestForm(request.POST or None, loops=loops, initial=initial)


def render_form(
    request: SignedInRequest, form: NewRequestForm, *, status: int = 200
) -> HttpResponse:
    context: dict[str, Any] = {"form": form, "curl": build_curl(form)}
    return render(request, "dashboard/requests/new.html", context, status=status)


def build_curl(form: NewRequestForm) -> str:
    loop_id = form["loop"].value() or "LOOP_ID"
    url = f"{settings.SITE_URL}/v1/api/loops/{loop_id}/requests"
    return request_examples.build_curl(url, {**form.build_body(), "platform": "api"})


def build_account(request: SignedInRequest) -> Account:
    """Builds the account that the services expect, from the person."""
    user = request.user
    return Account(id=user.pk, email=user.email, name=user.name, is_active=user.is_active)
