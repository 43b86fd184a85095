"""The account page: name, time zone, sign-in methods and signed-in browsers."""

from allauth.mfa.utils import is_mfa_enabled
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, override

from accounts import services, sessions
from dashboard.forms.profile import ProfileForm
from web.form_recovery import recoverable, refill
from web.guards import SignedInRequest, Stale, action, form_page, page
from web.languages import read_browser_language
from web.reauthentication import confirmed


@recoverable
@form_page
def account(request: SignedInRequest) -> HttpResponse:
    user = request.user
    initial = {"name": user.name, "time_zone": user.time_zone, "language": user.language}
    form = ProfileForm(request.POST or None, initial=initial)
    refill(request, form, "account")
    if form.is_valid():
        if form.changed_data:
            services.save_profile(user=request.user, **form.cleaned_data)
        with override(form.cleaned_data["language"] or read_browser_language(request)):
            messages.success(request, _("Saved."))
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
        raise Stale(_("That browser is no longer signed in."), back="sessions")
    ended = sessions.end_sessions(
        request.user.pk, except_key=request.session.session_key, only=only
    )
    if not ended:
        raise Stale(_("You have no other sessions."), back="sessions")
    sentence = ngettext("That browser is signed out.", "%(count)s browsers are signed out.", ended)
    messages.success(request, sentence % {"count": ended})
    return redirect("sessions")
