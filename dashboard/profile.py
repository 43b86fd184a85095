"""The account itself: name, time zone, how one signs in, and where one is signed in."""

from allauth.mfa.utils import is_mfa_enabled
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from accounts import services, sessions
from dashboard.forms.profile import ProfileForm
from web.form_recovery import recoverable, refill
from web.guards import SignedInRequest, Stale, action, form_page, page


@recoverable
@form_page
def account(request: SignedInRequest) -> HttpResponse:
    now = {"name": request.user.name, "time_zone": request.user.time_zone}
    form = ProfileForm(request.POST or None, initial=now)
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
def end_sessions(request: SignedInRequest) -> HttpResponse:
    """One of them, or all but this one."""
    named = request.POST.get("session", "")
    only = int(named) if named.isdecimal() and named.isascii() and len(named) < 19 else None
    if named and only is None:
        raise Stale("That browser is no longer signed in.", back="sessions")
    ended = sessions.end_sessions(
        request.user.pk, except_key=request.session.session_key, only=only
    )
    if not ended:
        raise Stale("There were no other sessions.", back="sessions")
    what = "That browser is" if ended == 1 else f"{ended} browsers are"
    messages.success(request, f"{what} signed out.")
    return redirect("sessions")
