"""Pages of API keys: list, create, show the secret once, roll, revoke and delete."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import key_services, key_tokens, services
from accounts.models import ApiKey
from accounts.notices import read_origin
from accounts.queries import find_key, read_keys
from accounts.usage import KeyUsage, read_hourly
from dashboard import key_examples, request_examples
from dashboard.forms.keys import KeyForm, RollForm, TypedNameForm
from loops.models import Loop
from web.bidi import isolate
from web.charts import Chart, Series
from web.form_recovery import recoverable, refill
from web.guards import SignedInRequest, Stale, action, form_page, page
from web.keyset import read_cursor
from web.languages import gettext_lazy as _lazy
from web.reauthentication import confirmed

PAGE_EXPIRED = _lazy("This page had expired. Nothing was created. Please submit it again.")
SHOWN_ONCE = _lazy("A key is shown only once. If you didn’t store this one, roll it.")


@page
def keys(request: SignedInRequest) -> HttpResponse:
    context = {
        "window": read_keys(request.user.pk, after=read_cursor(request)),
        "tabs": key_examples.build_tabs("YOUR_KEY"),
    }
    return render(request, "dashboard/keys/list.html", context)


@recoverable
@form_page
@confirmed
def create(request: SignedInRequest) -> HttpResponse:
    form = KeyForm(request.POST or None, initial={"token": issue_token(request, "create")})
    refill(request, form, "new-key")
    status = 200
    if form.is_bound:
        status = 422
        secret = key_tokens.read(request.POST.get("token", ""), "create", request.user.pk)
        if secret is None:
            form = KeyForm(renew_token(request, "create"))
            form.add_error(None, PAGE_EXPIRED)
        elif form.is_valid():
            fields = {name: form.cleaned_data[name] for name in ("name", "permissions")}
            expires_at = form.cleaned_data["expires_at"]
            key = key_services.create_api_key_once(
                user=request.user,
                secret=secret,
                expires_at=expires_at,
                origin=read_origin(request),
                **fields,
            )
            return redirect_to_secret(request, key)
    return render(request, "dashboard/keys/new.html", {"form": form}, status=status)


@page
def show(request: SignedInRequest, key_id: str) -> HttpResponse:
    return key_page(request, find_own_key(request, key_id))


@page
def show_secret(request: SignedInRequest, key_id: str) -> HttpResponse:
    """Shows the secret of a new key, on the first GET only."""
    key = find_own_key(request, key_id)
    token = request.COOKIES.get(settings.NEW_KEY_COOKIE, "")
    secret = None
    for purpose in ("create", f"roll.{key.replaces.pk}" if hasattr(key, "replaces") else ""):
        secret = secret or key_tokens.read(token, purpose, request.user.pk)
    may_see = request.method == "GET" and secret is not None
    if not may_see or not key_services.mark_key_shown(
        user=request.user, key_id=key.pk, secret=str(secret)
    ):
        messages.info(request, SHOWN_ONCE)
        return redirect("key", key_id=key.pk)
    loop = Loop.objects.of_creator(request.user.pk).newest_first().only("name").first()
    if "requests:write" not in key.permissions:
        loop = None
    tabs = (
        request_examples.build_first_tabs(loop.pk, str(secret))
        if loop
        else key_examples.build_tabs(str(secret))
    )
    context = {
        "key": key,
        "secret": secret,
        "loop": loop,
        "tabs": tabs,
        "agent_tabs": key_examples.build_agent_tabs(str(secret)),
    }
    return render(request, "dashboard/keys/secret.html", context)


@action("key")
def store(request: SignedInRequest, key_id: str) -> HttpResponse:
    """Deletes the cookie with the secret."""
    key = find_own_key(request, key_id)
    response = redirect("key", key_id=key.pk)
    key_tokens.forget(response, path=reverse("keys"))
    return response


@action("key")
@confirmed
def switch(request: SignedInRequest, key_id: str) -> HttpResponse:
    key = find_own_key(request, key_id)
    wanted = ApiKey.State.ACTIVE if request.POST.get("state") == "active" else ApiKey.State.INACTIVE
    try:
        services.set_key_state(key=key, state=wanted)
    except services.FinalKeyState:
        raise Stale(
            _("The key %(name)s was already revoked.") % {"name": isolate(key.name)},
            back="key",
            key_id=key.pk,
        ) from None
    is_on = wanted == ApiKey.State.ACTIVE
    messages.success(request, _("Key activated.") if is_on else _("Key deactivated."))
    return redirect("key", key_id=key.pk)


@recoverable
@action("key")
@confirmed
def roll(request: SignedInRequest, key_id: str) -> HttpResponse:
    key = find_own_key(request, key_id)
    purpose = f"roll.{key.pk}"
    form = RollForm(request.POST)
    secret = key_tokens.read(request.POST.get("token", ""), purpose, request.user.pk)
    if secret is None:
        form = RollForm(renew_token(request, purpose))
        form.add_error(None, PAGE_EXPIRED)
    if not form.is_valid() or secret is None:
        return key_page(request, key, roll_form=form)
    try:
        fresh = key_services.roll_api_key(
            key=key,
            secret=secret,
            overlap=form.cleaned_data["overlap"],
            origin=read_origin(request),
        )
    except key_services.NotRollable:
        sentence = _("This key can no longer be rolled. It was already rolled, or it doesn’t work.")
        raise Stale(sentence, back="key", key_id=key.pk) from None
    return redirect_to_secret(request, fresh)


@form_page
@confirmed
def revoke(request: SignedInRequest, key_id: str) -> HttpResponse:
    return end_key(request, key_id, ApiKey.State.REVOKED)


@form_page
@confirmed
def delete(request: SignedInRequest, key_id: str) -> HttpResponse:
    return end_key(request, key_id, ApiKey.State.DELETED)


def end_key(request: SignedInRequest, key_id: str, state: ApiKey.State) -> HttpResponse:
    """Asks for the key's name, then revokes or deletes the key."""
    key = find_own_key(request, key_id)
    is_deletion = state == ApiKey.State.DELETED
    form = TypedNameForm(request.POST if request.method == "POST" else None, name=key.name)
    if not form.is_valid():
        usage = read_usage(request, key)
        context = {"key": key, "form": form, "is_deletion": is_deletion, "usage": usage}
        status = 422 if form.is_bound else 200
        return render(request, "dashboard/keys/end.html", context, status=status)
    try:
        services.set_key_state(key=key, state=state)
    except services.FinalKeyState:
        raise Stale(
            _("The key %(name)s was already deleted.") % {"name": isolate(key.name)}, back="keys"
        ) from None
    sentence = (
        _("%(name)s is deleted. Calls with it are refused from now on.")
        if is_deletion
        else _("%(name)s is revoked. Calls with it are refused from now on.")
    )
    messages.success(request, sentence % {"name": isolate(key.name)})
    return redirect("keys") if is_deletion else redirect("key", key_id=key.pk)


def key_page(
    request: SignedInRequest, key: ApiKey, *, roll_form: RollForm | None = None
) -> HttpResponse:
    """Renders the page of one key. A form passed in was rejected."""
    usage = read_usage(request, key)
    hours = [timezone.localtime(hour) for hour in usage.hours]
    chart = Chart(
        _("Calls in the last 24 hours"),
        [f"{hour:%H:%M}" for hour in hours],
        [Series(_("calls"), list(usage.hours.values()))],
        unit=_("calls"),
    )
    fresh = RollForm(initial={"token": issue_token(request, f"roll.{key.pk}")})
    refill(request, fresh, "roll-key", key_id=key.pk)
    context = {"key": key, "usage": usage, "chart": chart, "roll_form": roll_form or fresh}
    return render(request, "dashboard/keys/key.html", context, status=422 if roll_form else 200)


def key_gone(key: ApiKey) -> Stale:
    """Builds the error of a view whose key was deleted meanwhile."""
    return Stale(_("The key %(name)s was deleted.") % {"name": isolate(key.name)}, back="keys")


def read_usage(request: SignedInRequest, key: ApiKey) -> KeyUsage:
    """Returns the key's calls of the last hours. Raises Stale if the key was deleted meanwhile."""
    usages = read_hourly(request.user.pk, key_id=key.pk)
    if not usages:
        raise key_gone(key)
    return usages[0]


def issue_token(request: SignedInRequest, purpose: str) -> str:
    return key_tokens.issue(purpose, request.user.pk)


def renew_token(request: SignedInRequest, purpose: str) -> Any:
    """Returns the posted form with a new token."""
    typed = request.POST.copy()
    typed["token"] = issue_token(request, purpose)
    return typed


def redirect_to_secret(request: SignedInRequest, key: ApiKey) -> HttpResponse:
    """Redirects to the page of the secret, or to the key's page if the secret was already shown."""
    if key.shown_at is not None:
        messages.info(request, SHOWN_ONCE)
        return redirect("key", key_id=key.pk)
    response = redirect("key-secret", key_id=key.pk)
    key_tokens.keep(response, request.POST["token"], path=reverse("keys"))
    return response


def find_own_key(request: SignedInRequest, key_id: str) -> ApiKey:
    """Returns the account's key. Raises Http404, and Stale for a deleted key."""
    key = find_key(request.user.pk, key_id)
    if key is None:
        raise Http404
    if key.state == ApiKey.State.DELETED:
        raise key_gone(key)
    return key
