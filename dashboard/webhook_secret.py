"""The webhook secret: masked, revealed after signing in again, set, and rotated."""

from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import Any

from allauth.account.internal.flows.reauthentication import (
    did_recently_reauthenticate,
    get_reauthentication_flows,
)
from allauth.core.exceptions import ReauthenticationRequired
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from accounts import secret_services, vault
from dashboard.forms.webhook_secret import SecretForm
from web.guards import Page, SignedInRequest, Stale, action, page

REVEAL = "reveal_webhook_secret"
NOTHING_TO_ASK = "Set a password first. You need it to see the secret."
LOST = "The secret can’t be read because its encryption key is missing. Set a new one."
CHANGED = "The secret changed after you opened this page. Here’s its current state."


def change(view: Page) -> Callable[..., HttpResponse]:
    """An action on the secret that stood on the page, and on no later one: what is sent twice, or
    from an old page, changes nothing."""

    @action("webhook-secret")
    @wraps(view)
    def changed(request: SignedInRequest) -> HttpResponse:
        try:
            return view(request, datetime.fromisoformat(request.POST.get("seen", "")))
        except (ValueError, secret_services.ChangedMeanwhile):
            raise Stale(CHANGED, back="webhook-secret") from None
        except vault.Unreadable:
            messages.error(request, LOST)
            return redirect("webhook-secret")

    return changed


@page
def webhook_secret(request: SignedInRequest) -> HttpResponse:
    return secret_page(request)


@action("webhook-secret")
def reveal(request: SignedInRequest) -> HttpResponse:
    """Once, on the page that follows."""
    if not get_reauthentication_flows(request.user):  # who signs in with codes by mail alone
        messages.info(request, NOTHING_TO_ASK)
        return redirect(f"{reverse('account_set_password')}?next={reverse('webhook-secret')}")
    if not did_recently_reauthenticate(request):
        raise ReauthenticationRequired
    request.session[REVEAL] = True
    return redirect("webhook-secret")


@change
def set_own(request: SignedInRequest, seen: datetime) -> HttpResponse:
    form = SecretForm(request.POST)
    if not form.is_valid():
        return secret_page(request, form=form)
    secret_services.set_secret(account=request.user, text=form.cleaned_data["secret"], version=seen)
    messages.success(request, "Secret set. It signs from the next attempt on.")
    return redirect("webhook-secret")


@change
def rotate(request: SignedInRequest, seen: datetime) -> HttpResponse:
    force = "force" in request.POST
    try:
        secret_services.rotate_secret(account=request.user, force=force, version=seen)
    except secret_services.RotationUnderWay:
        messages.warning(
            request, "Nothing was changed. The old secret from the last rotation is still valid."
        )
    else:
        messages.success(request, "Secret rotated. The old one stays valid for 24 hours.")
    return redirect("webhook-secret")


@change
def end_overlap(request: SignedInRequest, seen: datetime) -> HttpResponse:
    secret_services.end_rotation(account=request.user, version=seen)
    messages.success(request, "The old secret no longer works.")
    return redirect("webhook-secret")


def secret_page(request: SignedInRequest, *, form: SecretForm | None = None) -> HttpResponse:
    """The page; a form that is given was refused."""
    revealed = None
    is_asked = request.method == "GET" and request.session.pop(REVEAL, False)
    if is_asked and did_recently_reauthenticate(request):  # nobody else finds an old wish
        try:
            revealed = secret_services.reveal_secrets(account=request.user)
        except vault.Unreadable:
            messages.error(request, LOST)
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
