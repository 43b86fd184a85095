"""Actions that send deliveries again: one, the selected ones, or all dead ones since a moment."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard.deliveries import find_delivery, list_page
from dashboard.forms.deliveries import MAX_SELECTED, ResendDeadForm
from db.ids import normalize_id
from web.form_recovery import recoverable
from web.guards import SignedInRequest, action
from web.humanize import format_count
from web.languages import gettext_lazy as _lazy
from webhooks import safe_text, services

PAUSED = _lazy("Hosts that couldn’t be reached recently are paused; their deliveries follow later.")


@action("delivery")
def resend(request: SignedInRequest, delivery_id: str) -> HttpResponse:
    item = find_delivery(request, delivery_id)
    try:
        services.resend(account_id=request.user.pk, delivery_id=item.pk)
        until = services.pauses(request.user.pk).get(item.host)
        if until is None:
            messages.success(request, _("Sending it again now. The retry schedule starts again."))
        else:
            host = safe_text.visible(item.host)
            messages.warning(
                request,
                _(
                    "It’s due again. The retry schedule starts again. %(host)s couldn’t be"
                    " reached recently and is paused until %(until)s UTC."
                )
                % {"host": host, "until": f"{until:%H:%M:%S}"},
            )
    except services.OnlyOnce:
        messages.info(request, _("Test events are sent only once. Send another one instead."))
    except services.NotResendable:
        messages.warning(request, _("An attempt is running. Its result will appear here."))
    return redirect("delivery", delivery_id=item.pk)


@action("deliveries")
def resend_selected(request: SignedInRequest) -> HttpResponse:
    """Sends the checked deliveries again, and returns to the same page of the list."""
    back = redirect(f"{reverse('deliveries')}?{request.GET.urlencode()}".rstrip("?"))
    typed = request.POST.getlist("selected")[:MAX_SELECTED]
    ids = {found for each in typed if (found := normalize_id(each))}
    if not ids:
        messages.info(request, _("Select the deliveries to send again first."))
        return back
    resent = services.resend_selected(account_id=request.user.pk, delivery_ids=ids)
    tell = messages.success if resent.due else messages.warning
    tell(request, describe_resent(resent))
    mention_pauses(request, resent.due)
    return back


def describe_resent(resent: services.Resent) -> str:
    """Describes the result for the selected deliveries, in a sentence for each kind."""
    due, running, tests = resent.due, resent.running, resent.tests
    sentences = [
        ngettext(
            "%(number)s delivery is sent again now.",
            "%(number)s deliveries are sent again now.",
            due,
        )
        % {"number": format_count(due)}
    ]
    if running:
        sentence = ngettext(
            "%(number)s has an attempt running.", "%(number)s have an attempt running.", running
        )
        sentences.append(sentence % {"number": format_count(running)})
    if tests:
        sentence = ngettext(
            "%(number)s is a test event, which is sent only once.",
            "%(number)s are test events, which are sent only once.",
            tests,
        )
        sentences.append(sentence % {"number": format_count(tests)})
    return " ".join(sentences)


def mention_pauses(request: SignedInRequest, count: int) -> bool:
    """Adds a message if a delivery was sent and its host is paused."""
    is_paused = bool(count and services.pauses(request.user.pk))
    if is_paused:
        messages.warning(request, PAUSED)
    return is_paused


@recoverable
@action("deliveries")
def resend_dead(request: SignedInRequest) -> HttpResponse:
    form = ResendDeadForm(request.POST, auto_id="dead-%s")
    if not form.is_valid():
        return list_page(request, dead_form=form, status=422)
    count = services.resend_dead(account_id=request.user.pk, since=form.cleaned_data["since"])
    number = {"number": format_count(count)}
    if not count:
        messages.info(request, _("No deliveries have failed permanently since then."))
    elif services.pauses(request.user.pk):
        sentence = ngettext(
            "%(number)s delivery is due again.", "%(number)s deliveries are due again.", count
        )
        messages.warning(request, f"{sentence % number} {PAUSED}")
    else:
        sentence = ngettext(
            "%(number)s delivery is sent again now.",
            "%(number)s deliveries are sent again now.",
            count,
        )
        messages.success(request, sentence % number)
    return redirect("deliveries")
