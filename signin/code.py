"""Signing in and up with a code that comes by mail."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.internal.flows.login import perform_login, record_authentication
from allauth.account.models import Login
from allauth.account.utils import get_next_redirect_url, passthrough_next_redirect_url
from allauth.core import ratelimit
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts import sign_in_codes
from accounts.audit import record
from accounts.code_services import accept_holder, find_holder
from signin.adapter import UNDELIVERED
from signin.code_stage import SHOWN
from signin.forms import AddressForm, NewcomerForm, TypedCodeForm
from web.cache import is_reachable
from web.error_pages import too_many_requests

Page = Callable[[HttpRequest], HttpResponse]
ENDED = "That code has expired. Get a new one."
UNSENT = "We couldn’t send an email to this address. Try again soon."
TOO_MANY = "Too many codes. Wait a minute, or an hour after ten codes for one address."
WORN_OUT = "Too many wrong codes. Get a new one."


def entrance(view: Page) -> Page:
    """For who is not signed in yet, where mail is sent at all. Raises Http404."""

    @require_http_methods(["GET", "HEAD", "POST"])
    @never_cache
    @wraps(view)
    def guarded(request: HttpRequest) -> HttpResponse:
        if not sign_in_codes.are_sent():
            raise Http404
        if request.user.is_authenticated:
            return redirect(get_next_redirect_url(request) or "inbox")
        return view(request)

    return guarded


@entrance
def sign_in_by_code(request: HttpRequest) -> HttpResponse:
    return ask(request, AddressForm(request.POST or None), "account/code_sign_in.html")


@entrance
def sign_up_by_code(request: HttpRequest) -> HttpResponse:
    return ask(request, NewcomerForm(request.POST or None), "account/code_sign_up.html")


@entrance
def type_code(request: HttpRequest) -> HttpResponse:
    claim = sign_in_codes.read(request.session)
    if claim is None:
        return start_over(request, ENDED)
    form = TypedCodeForm(request.POST or None)
    if form.is_valid():
        if not ratelimit.consume(request, action="login"):
            return too_many_requests(request)
        try:
            return let_in(request, sign_in_codes.redeem(request, form.cleaned_data["code"]))
        except sign_in_codes.NoCode:
            return start_over(request, ENDED)
        except sign_in_codes.WrongCode as wrong:
            note_failure(request, wrong.claim)
            if not wrong.left:
                return start_over(request, WORN_OUT)
            form.add_error("code", f"Wrong code. Attempts left: {wrong.left}")
    again = reverse("sign-up-by-code" if claim.name else "sign-in-by-code")
    context = {"form": form, "claim": claim, "again": onward(request, again), **way_back(request)}
    return render(request, "account/code.html", context, status=422 if form.is_bound else 200)


def ask(request: HttpRequest, form: Any, template: str) -> HttpResponse:
    """The form that a code is asked for with."""
    status = 422 if form.is_bound else 200
    if form.is_valid():
        claim = sign_in_codes.Claim(form.cleaned_data["email"], form.cleaned_data.get("name", ""))
        if not is_reachable():  # uncounted, codes could be asked for and guessed without end
            form.add_error("email", UNSENT)
        elif not ratelimit.consume(request, action="request_login_code", key=claim.email):
            form.add_error(None, TOO_MANY)
            status = 429
        else:
            try:
                send(request, claim)
                return redirect(onward(request, reverse("type-code")))
            except UNDELIVERED:
                form.add_error("email", UNSENT)
    context = {"form": form, "waiting": sign_in_codes.read(request.session), **way_back(request)}
    return render(request, template, context, status=status)


def send(request: HttpRequest, claim: sign_in_codes.Claim) -> None:
    """Nobody learns from the answer whether the address has an account: its owner does, by mail.
    Raises one of UNDELIVERED; a code that was sent before counts on then."""
    code = sign_in_codes.new_code()
    holder = find_holder(claim.email)
    if claim.name or holder is not None:
        told = {"code": code, "minutes": sign_in_codes.LIFE // 60}
        address = holder.address if holder else claim.email
        get_adapter().deliver("account/email/login_code", address, told)
    else:
        url = onward(request, reverse("sign-up-by-code"))
        get_adapter().deliver("account/email/unknown_account", claim.email, {"signup_url": url})
    sign_in_codes.expect(request.session, claim, code)


def let_in(request: HttpRequest, claim: sign_in_codes.Claim) -> HttpResponse:
    """Signed in, or at the second step where there is one."""
    holder = accept_holder(email=claim.email, name=claim.name)
    if holder is None:  # the account was deleted within these minutes
        return start_over(request, ENDED)
    record_authentication(request, holder.user, method="code", email=holder.address)
    login = Login(
        holder.user,
        redirect_url=get_next_redirect_url(request),
        signup=holder.is_new,
        email=holder.address,
        state={SHOWN: holder.address},
    )
    response: HttpResponse = perform_login(request, login)
    return response


def note_failure(request: HttpRequest, claim: sign_in_codes.Claim) -> None:
    """A wrong code stands in the audit log, as a wrong password does."""
    holder = find_holder(claim.email)
    if holder is not None:
        ip = get_adapter().get_client_ip(request)
        record(account_id=holder.user.pk, actor_id=None, action="sign_in.failed", ip=ip)


def start_over(request: HttpRequest, why: str) -> HttpResponse:
    messages.info(request, why)
    return redirect(onward(request, reverse("sign-in-by-code")))


def onward(request: HttpRequest, url: str) -> str:
    """The address, from which one goes on to where one was going."""
    return str(passthrough_next_redirect_url(request, url, "next"))


def way_back(request: HttpRequest) -> dict[str, str | None]:
    """Where one was going, for forms and for links: only addresses of ours."""
    return {"following": get_next_redirect_url(request)}
