"""The page that creates a request by hand, and shows the same call in curl."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.quota import Account
from dashboard import request_examples
from dashboard.access import Stale, action, find_request, form_page
from dashboard.forms import ask_again
from dashboard.forms.new_request import NewRequestForm
from dashboard.forms.sections import build_sections
from dashboard.loop_choices import read_loop_choices
from db.ids import normalize_id
from reviews import services
from web import form_tokens
from web.bidi import isolate
from web.form_recovery import recoverable, refill
from web.guards import SignedInRequest
from web.humanize import format_count

PURPOSE = "request"


@recoverable
@form_page
def new(request: SignedInRequest) -> HttpResponse:
    form = build_form(request)
    if request.method != "POST":
        if not refill(request, form, "new-request") and "from" in request.GET:
            copy_request(request, form)
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
    except services.Refused as error:
        form.add_refusal(error)
        return render_form(request, form, status=422)
    count = created.broadcasted_to
    messages.success(
        request,
        ngettext("Asked %(count)s member.", "Asked %(count)s members.", count)
        % {"count": format_count(count)},
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
    original = normalize_id(request.GET.get("from", ""))
    return NewRequestForm(request.POST or None, loops=loops, original=original, initial=initial)


def copy_request(request: SignedInRequest, form: NewRequestForm) -> None:
    """Fills the form like the request that the URL names. Raises Http404."""
    request_id = normalize_id(request.GET["from"])
    if request_id is None:
        raise Http404
    item = find_request(request, request_id)
    form.initial.update(ask_again.build_initial(item))
    if item.loop.deleted_at is not None:
        form.initial["loop"] = next((loop.pk for loop in form.loops), "")
        name = isolate(item.loop.name)
        sentence = _("The loop %(name)s was deleted. Choose another one.") % {"name": name}
        messages.info(request, sentence)
    lost = ask_again.find_lost(item, form)
    if lost:
        sentence = _("This form can’t show all of the original: %(names)s.")
        messages.warning(request, sentence % {"names": ", ".join(lost)})


def render_form(
    request: SignedInRequest, form: NewRequestForm, *, status: int = 200
) -> HttpResponse:
    context: dict[str, Any] = {"form": form, "curl": build_curl(form), **build_sections(form)}
    return render(request, "dashboard/requests/new.html", context, status=status)


def build_curl(form: NewRequestForm) -> str:
    loop_id = form["loop"].value() or "LOOP_ID"
    url = f"{settings.SITE_URL}/v1/api/loops/{loop_id}/requests"
    return request_examples.build_curl(url, {**form.build_body(), "platform": "api"})


def build_account(request: SignedInRequest) -> Account:
    """Builds the account that the services expect, from the person."""
    user = request.user
    return Account(id=user.pk, email=user.email, name=user.name, is_active=user.is_active)
