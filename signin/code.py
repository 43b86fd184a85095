"""The pages for signing in and signing up with a code sent by email."""

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
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts import sign_in_codes
from accounts.audit import record
from accounts.code_services import find_holder, find_or_create_holder
from accounts.proofs import AddressUnavailable
from accounts.session_store import REMEMBER
from signin import guessing, sign_up_rules
from signin.adapter import CODE_EMAIL, UNDELIVERED
from signin.forms import CodeRequestForm, NewcomerForm, TypedCodeForm
from signin.proof import prove
from web.cache import is_reachable
from web.error_pages import too_many_requests
from web.languages import gettext_lazy as _lazy

Page = Callable[[HttpRequest], HttpResponse]
ENDED = _lazy("That code has expired. Get a new one.")
PASSWORD_ADVICE = _lazy("Continue with email codes, or set a password under Account.")
UNSENT = _lazy("We couldn’t send an email to this address. Try again soon.")
TOO_MANY = _lazy(
    "You’ve requested too many codes. Wait a minute. After 10 codes for one address, wait an hour;"
    " after 20, a day."
)
HAD_ACCOUNT = _lazy(
    "You already had an account with this address, and you’re signed in to it. The name and"
    " password you just chose weren’t used."
)
NO_TRIES_LEFT = _lazy("Too many wrong codes. Get a new one.")


class NotSent(Exception):
    """No code was sent; the message is shown beside `field`, or above the form."""

    def __init__(self, sentence: str, *, field: str | None = "email", status: int = 422) -> None:
        super().__init__(sentence)
        self.field = field
        self.status = status


def signed_out_page(view: Page) -> Page:
    """Guards a page for signed-out people. Raises Http404 if the service cannot send email."""

    @require_http_methods(["GET", "HEAD", "POST"])
    @never_cache
    @wraps(view)
    def guarded(request: HttpRequest) -> HttpResponse:
        if not sign_in_codes.can_send():
            raise Http404
        if request.user.is_authenticated:
            return redirect(get_next_redirect_url(request) or "inbox")
        return view(request)

    return guarded


@signed_out_page
def sign_in_by_code(request: HttpRequest) -> HttpResponse:
    return request_code(request, CodeRequestForm(request.POST or None), "account/code_sign_in.html")


@signed_out_page
def sign_up_by_code(request: HttpRequest) -> HttpResponse:
    if sign_up_rules.is_closed():
        return render(request, "account/signup_closed.html", status=403)
    return request_code(request, NewcomerForm(request.POST or None), "account/code_sign_up.html")


@signed_out_page
def type_code(request: HttpRequest) -> HttpResponse:
    pending = sign_in_codes.read_pending(request.session)
    if pending is None:
        return start_over(request, ENDED)
    form = TypedCodeForm(request.POST or None)
    if form.is_valid():
        if not ratelimit.consume(request, action="login"):
            return too_many_requests(request)
        try:
            return sign_in(
                request, sign_in_codes.redeem(request.session, form.cleaned_data["code"])
            )
        except sign_in_codes.NoCode:
            return start_over(request, ENDED)
        except sign_in_codes.WrongCode as wrong:
            record_failure(request, wrong.pending)
            if not wrong.tries_left:
                return start_over(request, NO_TRIES_LEFT)
            form.add_error(
                "code",
                _("Wrong code. Attempts left: %(tries_left)s") % {"tries_left": wrong.tries_left},
            )
    again = reverse("sign-up-by-code" if pending.name else "sign-in-by-code")
    other = reverse("account_signup") if pending.password else again
    context = {
        "form": form,
        "pending": pending,
        "again": add_next(request, again),
        "other": add_next(request, other),
        **build_next_context(request),
    }
    return render(request, "account/code.html", context, status=422 if form.is_bound else 200)


def request_code(request: HttpRequest, form: Any, template: str) -> HttpResponse:
    """Shows the form that asks for an address, and sends a code to it."""
    status = 422 if form.is_bound else 200
    if form.is_valid():
        pending = sign_in_codes.PendingSignIn(
            form.cleaned_data["email"], form.cleaned_data.get("name", "")
        )
        try:
            return start(request, keep_password(request, pending))
        except NotSent as refusal:
            form.add_error(refusal.field, str(refusal))
            status = refusal.status
    context = {
        "form": form,
        "waiting": sign_in_codes.read_pending(request.session),
        **build_next_context(request),
    }
    return render(request, template, context, status=status)


def start(request: HttpRequest, pending: sign_in_codes.PendingSignIn) -> HttpResponse:
    """Sends a code and redirects to the page that asks for it. Raises NotSent."""
    check_limits(request, pending.email)
    if pending.name:
        check_rules(request, pending.email)
    if "remember" in request.POST:
        request.session[REMEMBER] = True
    else:
        request.session.pop(REMEMBER, None)
    try:
        send_code(request, pending)
    except UNDELIVERED:
        raise NotSent(UNSENT) from None
    return redirect(add_next(request, reverse("type-code")))


def check_limits(request: HttpRequest, email: str) -> None:
    """Counts a code that is about to be sent. Raises NotSent."""
    if not is_reachable():  # without the throttle, guesses would be unlimited
        raise NotSent(UNSENT)
    if not guessing.count_code(request, email):
        raise NotSent(TOO_MANY, field=None, status=429)


def check_rules(request: HttpRequest, email: str) -> None:
    """Checks whether this address may sign up. Raises NotSent."""
    try:
        sign_up_rules.check_sign_up(request, email)
    except sign_up_rules.MayNotSignUp as refusal:
        raise NotSent(str(refusal)) from None


def keep_password(
    request: HttpRequest, pending: sign_in_codes.PendingSignIn
) -> sign_in_codes.PendingSignIn:
    """Keeps the password that was chosen before the person asks for another code."""
    before = sign_in_codes.read_pending(request.session)
    if before is None or (before.email, before.name) != (pending.email, pending.name):
        return pending
    return before


def send_code(request: HttpRequest, pending: sign_in_codes.PendingSignIn) -> None:
    """Sends a code, or an email that there is no account.

    The page does not reveal whether the address has an account; only the email does. Raises one
    of UNDELIVERED, and then an earlier code stays valid.
    """
    code = sign_in_codes.new_code()
    holder = find_holder(pending.email)
    if pending.name or holder is not None:
        values = {
            "code": code,
            "minutes": sign_in_codes.LIFE // 60,
            "has_account": bool(pending.name and holder),
        }
        address = holder.address if holder else pending.email
        get_adapter().deliver(CODE_EMAIL, address, values)
    else:
        url = "" if sign_up_rules.is_closed() else add_next(request, reverse("sign-up-by-code"))
        get_adapter().deliver("account/email/unknown_account", pending.email, {"signup_url": url})
    sign_in_codes.store_code(request.session, pending, code)


def sign_in(request: HttpRequest, pending: sign_in_codes.PendingSignIn) -> HttpResponse:
    """Confirms the address and signs the person in, or continues with the second step.

    The first proof removes a second factor, which a stranger may have set up.
    """
    if pending.name and find_holder(pending.email) is None:
        try:
            check_rules(request, pending.email)  # the rules may have changed
        except NotSent as refusal:
            return start_over(request, str(refusal))
    holder = find_or_create_holder(
        email=pending.email, name=pending.name, password=pending.password
    )
    if holder is None:  # the account was deleted meanwhile
        return start_over(request, ENDED)
    try:
        prove(request, holder.user, holder.address, advice=PASSWORD_ADVICE)
    except AddressUnavailable:  # the account was deleted, or another has it now
        return start_over(request, ENDED)
    if pending.password and not holder.is_new:
        messages.info(request, HAD_ACCOUNT)
    record_authentication(request, holder.user, method="code", email=holder.address)
    login = Login(
        holder.user,
        redirect_url=get_next_redirect_url(request),
        signup=holder.is_new,
        email=holder.address,
    )
    response: HttpResponse = perform_login(request, login)
    return response


def record_failure(request: HttpRequest, pending: sign_in_codes.PendingSignIn) -> None:
    """Records a wrong code in the audit log."""
    holder = find_holder(pending.email)
    if holder is not None:
        ip = get_adapter().get_client_ip(request)
        record(account_id=holder.user.pk, actor_id=None, action="sign_in.failed", ip=ip)


def start_over(request: HttpRequest, reason: str) -> HttpResponse:
    messages.info(request, reason)
    return redirect(add_next(request, reverse("sign-in-by-code")))


def add_next(request: HttpRequest, url: str) -> str:
    """Adds the page to open after signing in to the URL."""
    return str(passthrough_next_redirect_url(request, url, "next"))


def build_next_context(request: HttpRequest) -> dict[str, str | None]:
    """Returns the page to open after signing in, for templates; only URLs of this site."""
    return {"following": get_next_redirect_url(request)}
