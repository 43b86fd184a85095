"""The page of the webhook secret: reveal after reauthentication, set, rotate."""

from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from accounts import secret_services, vault
from accounts.notices import read_origin
from dashboard.forms.webhook_secret import SecretForm
from web.guards import Page, SignedInRequest, Stale, action, page
from web.languages import gettext_lazy as _lazy
from web.reauthentication import confirmed, is_confirmed

REVEAL = "reveal_webhook_secret"
UNREADABLE = _lazy("The secret can’t be read because its encryption key is missing. Set a new one.")
NOT_ISSUED = _lazy(
    "Only secrets that we issued start with whsec_, and this is none of yours. Choose another one."
)
CHANGED_MEANWHILE = _lazy(
    "The secret changed after you opened this page. Here’s its current state."
)


def change_secret(view: Page) -> Callable[..., HttpResponse]:
    """Decorates an action that changes the secret. A repeated or outdated form raises Stale."""

    @action("webhook-secret")
    @confirmed
    @wraps(view)
    def wrapped(request: SignedInRequest) -> HttpResponse:
        try:
            return view(request, datetime.fromisoformat(request.POST.get("seen", "")))
        except (ValueError, secret_services.ChangedMeanwhile):
            raise Stale(CHANGED_MEANWHILE, back="webhook-secret") from None
        except vault.Unreadable:
            messages.error(request, UNREADABLE)
            return redirect("webhook-secret")

    return wrapped


@page
def webhook_secret(request: SignedInRequest) -> HttpResponse:
    return secret_page(request)


@action("webhook-secret")
@confirmed
def reveal(request: SignedInRequest) -> HttpResponse:
    """Shows the secret once, on the next page."""
    request.session[REVEAL] = True
    return redirect("webhook-secret")


@change_secret
def set_own(request: SignedInRequest, seen: datetime) -> HttpResponse:
    form = SecretForm(request.POST)
    if not form.is_valid():
        return secret_page(request, form=form)
    try:
        secret_services.set_secret(
            account=request.user,
            text=form.cleaned_data["secret"],
            version=seen,
            origin=read_origin(request),
        )
    except secret_services.NotIssued:
        form.add_error("secret", NOT_ISSUED)
        return secret_page(request, form=form)
    messages.success(request, _("Secret set. It signs from the next attempt on."))
    return redirect("webhook-secret")


@change_secret
def rotate(request: SignedInRequest, seen: datetime) -> HttpResponse:
    force = "force" in request.POST
    try:
        secret_services.rotate_secret(
            account=request.user, force=force, version=seen, origin=read_origin(request)
        )
    except secret_services.RotationUnderWay:
        messages.warning(
            request, _("Nothing was changed. The old secret from the last rotation is still valid.")
        )
    else:
        messages.success(request, _("Secret rotated. The old one stays valid for 24 hours."))
    return redirect("webhook-secret")


@change_secret
def end_overlap(request: SignedInRequest, seen: datetime) -> HttpResponse:
    secret_services.end_rotation(account=request.user, version=seen)
    messages.success(request, _("The old secret no longer works."))
    return redirect("webhook-secret")


def secret_page(request: SignedInRequest, *, form: SecretForm | None = None) -> HttpResponse:
    """Renders the page. A form passed in was rejected."""
    revealed = None
    is_requested = request.method == "GET" and request.session.pop(REVEAL, False)
    # a flag left by an older visit reveals nothing
    if is_requested and is_confirmed(request):
        try:
            revealed = secret_services.reveal_secrets(
                account=request.user, origin=read_origin(request)
            )
        except vault.Unreadable:
            messages.error(request, UNREADABLE)
    status = secret_services.read_status(request.user.pk)
    seen = [("seen", status.changed_at.isoformat())]
    context: dict[str, Any] = {
        "revealed": revealed,
        "status": status,
        "seen": seen,
        "forced": [*seen, ("force", "yes")],
        "form": form or SecretForm(),
    }
    return render(request, "dashboard/webhook_secret.html", context, status=422 if form else 200)
