"""The account itself: name, time zone, how one signs in, and where one is signed in."""

from allauth.mfa.utils import is_mfa_enabled
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from accounts import services, sessions
from dashboard.forms.profile import ProfileForm
from web.form_recovery import keeping, refill
from web.guards import SignedInRequest, Stale, action, form_page, page


@keeping
@form_page
def account(http: SignedInRequest) -> HttpResponse:
    now = {"name": http.user.name, "time_zone": http.user.time_zone}
    form = ProfileForm(http.POST or None, initial=now)
    refill(http, form, "account")
    if form.is_valid():
        if form.changed_data:
            services.save_profile(user=http.user, **form.cleaned_data)
        messages.success(http, "Saved.")
        return redirect("account")
    shown = {
        "form": form,
        "has_second_factor": is_mfa_enabled(http.user),
        "session_count": max(1, sessions.count_sessions(http.user.pk)),
    }
    status = 422 if form.is_bound else 200
    return render(http, "dashboard/account.html", shown, status=status)


@page
def session_list(http: SignedInRequest) -> HttpResponse:
    sessions.ensure_listed(http)
    rows = sessions.read_sessions(http.user.pk, current=http.session.session_key)
    shown = {"sessions": rows, "others": sum(not row.is_current for row in rows)}
    return render(http, "dashboard/sessions.html", shown)


@action("sessions")
def end_sessions(http: SignedInRequest) -> HttpResponse:
    """One of them, or all but this one."""
    named = http.POST.get("session", "")
    only = int(named) if named.isdecimal() and named.isascii() and len(named) < 19 else None
    if named and only is None:
        raise Stale("That browser is no longer signed in.", back="sessions")
    ended = sessions.end_sessions(http.user.pk, but=http.session.session_key, only=only)
    if not ended:
        raise Stale("There were no other sessions.", back="sessions")
    what = "That browser is" if ended == 1 else f"{ended} browsers are"
    messages.success(http, f"{what} signed out.")
    return redirect("sessions")
