"""The account page: name, time zone, sign-in methods and signed-in browsers."""

from allauth.mfa.utils import is_mfa_enabled
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from accounts import services, sessions
from dashboard.forms.profile import ProfileForm
from web.form_recovery import recoverable, refill
from web.guards import SignedInRequest, Stale, action, form_page, page
from web.reauthentication import confirmed


@recoverable
@form_page
def account(request: SignedInRequest) -> HttpResponse:
    initial = {"name": request.user.name, "time_zone": request.user.time_zone}
    form = ProfileForm(request.POST or None, initial=initial)
    refill(request, form, "account")
    if form.is_valid():
        if form.changed_data:
            services.save_profile(user=request.user, **form.cleaned_data)
        messages.success(request, "Saved.")
        return redirect("account")
    context = {
        "form": form,
        "has_second_factor": is_mfa_enabled(request.user),
        "session_count": max(1, sessions.count_sessions(request.user.pk)),
    }
    status = 422 if form.is_bound else 200
    return render(request, "dashboard/account.html", context, status=status)


@page
def session_list(request: SignedInRequest) -> HttpResponse:
    sessions.ensure_listed(request)
    rows = sessions.read_sessions(request.user.pk, current=request.session.session_key)
    context = {"sessions": rows, "others": sum(not row.is_current for row in rows)}
    return render(request, "dashboard/sessions.html", context)


@action("sessions")
@confirmed
def end_sessions(request: SignedInRequest) -> HttpResponse:
    """Ends one session, or all but the current one."""
    typed_id = request.POST.get("session", "")
    only = (
        int(typed_id)
        if typed_id.isdecimal() and typed_id.isascii() and len(typed_id) < 19
        else None
    )
    if typed_id and only is None:
        raise Stale("That browser is no longer signed in.", back="sessions")
    ended = sessions.end_sessions(
        request.user.pk, except_key=request.session.session_key, only=only
    )
    if not ended:
        raise Stale("You have no other sessions.", back="sessions")
    subject = "That browser is" if ended == 1 else f"{ended} browsers are"
    messages.success(request, f"{subject} signed out.")
    return redirect("sessions")
