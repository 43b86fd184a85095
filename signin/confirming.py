"""The page on which people without a password confirm with an emailed code who they are."""

from allauth.account.adapter import get_adapter
from allauth.account.internal.flows.login import record_authentication
from allauth.account.internal.flows.reauthentication import resume_request
from allauth.core import ratelimit
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts import sign_in_codes
from accounts.audit import record
from signin.adapter import UNDELIVERED
from signin.code import ENDED, NO_TRIES_LEFT, UNSENT, NotSent, add_next, check_limits
from signin.forms import TypedCodeForm
from web.error_pages import too_many_requests
from web.guards import SignedInRequest, form_page


@form_page
def confirm_by_code(request: SignedInRequest) -> HttpResponse:
    """Emails a code on request, and asks for it. Raises Http404 for people with other means."""
    methods = get_adapter().get_reauthentication_methods(request.user)
    address = sign_in_codes.find_confirming_address(request.user)
    if address is None or methods[0]["url"] != reverse("confirm-by-code"):
        raise Http404
    if request.method == "POST" and "code" not in request.POST:
        return send(request, address)
    is_sent = sign_in_codes.read_pending(request.session, sign_in_codes.CONFIRM) is not None
    form = TypedCodeForm(request.POST or None)
    if form.is_valid():
        if not ratelimit.consume(request, action="login"):
            return too_many_requests(request)
        try:
            sign_in_codes.redeem(request.session, form.cleaned_data["code"], sign_in_codes.CONFIRM)
            return finish(request, address)
        except sign_in_codes.NoCode:
            return start_over(request, ENDED)
        except sign_in_codes.WrongCode as wrong:
            record(account_id=request.user.pk, actor_id=None, action="sign_in.failed")
            if not wrong.tries_left:
                return start_over(request, NO_TRIES_LEFT)
            form.add_error(
                "code",
                _("Wrong code. Attempts left: %(tries_left)s") % {"tries_left": wrong.tries_left},
            )
    context = {
        "form": form,
        "address": address,
        "is_sent": is_sent,
        "next": request.POST.get("next") or request.GET.get("next", ""),
    }
    status = 422 if form.is_bound else 200
    return render(request, "account/confirm_by_code.html", context, status=status)


def send(request: SignedInRequest, address: str) -> HttpResponse:
    """Emails a code to the address."""
    code = sign_in_codes.new_code()
    values = {"code": code, "minutes": sign_in_codes.LIFE // 60}
    try:
        check_limits(request, address)
        get_adapter().deliver("account/email/login_code", address, values)
    except NotSent as refusal:
        messages.error(request, str(refusal))
    except UNDELIVERED:
        messages.error(request, UNSENT)
    else:
        pending = sign_in_codes.PendingSignIn(address, "")
        sign_in_codes.store_code(request.session, pending, code, sign_in_codes.CONFIRM)
    return redirect(add_next(request, request.path))


def finish(request: SignedInRequest, address: str) -> HttpResponse:
    """Continues the action for which the person confirmed."""
    record_authentication(request, request.user, method="code", email=address)
    response: HttpResponse | None = resume_request(request)
    return response or redirect("account")


def start_over(request: SignedInRequest, reason: str) -> HttpResponse:
    messages.info(request, reason)
    return redirect(add_next(request, request.path))
