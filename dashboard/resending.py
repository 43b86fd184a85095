"""Actions that send deliveries again: one, the selected ones, or all dead ones since a moment."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from dashboard.deliveries import find_delivery, list_page
from dashboard.forms.deliveries import MAX_SELECTED, ResendDeadForm
from db.ids import normalize_id
from web.form_recovery import recoverable
from web.guards import SignedInRequest, action
from webhooks import safe_text, services


@action("delivery")
def resend(request: SignedInRequest, delivery_id: str) -> HttpResponse:
    item = find_delivery(request, delivery_id)
    try:
        services.resend(account_id=request.user.pk, delivery_id=item.pk)
        until = services.pauses(request.user.pk).get(item.host)
        if until is None:
            messages.success(request, "Sending it again now. The retry schedule starts again.")
        else:
            host = safe_text.visible(item.host)
            messages.warning(
                request,
                f"It’s due again. The retry schedule starts again. {host} couldn’t be reached"
                f" recently and is paused until {until:%H:%M:%S} UTC.",
            )
    except services.OnlyOnce:
        messages.info(request, "Test events are sent only once. Send another one instead.")
    except services.NotResendable:
        messages.warning(request, "An attempt is running. Its result will appear here.")
    return redirect("delivery", delivery_id=item.pk)


@action("deliveries")
def resend_selected(request: SignedInRequest) -> HttpResponse:
    """Sends the checked deliveries again, and returns to the same page of the list."""
    back = redirect(f"{reverse('deliveries')}?{request.GET.urlencode()}".rstrip("?"))
    typed = request.POST.getlist("selected")[:MAX_SELECTED]
    ids = {found for each in typed if (found := normalize_id(each))}
    if not ids:
        messages.info(request, "Select the deliveries to send again first.")
        return back
    resent = services.resend_selected(account_id=request.user.pk, delivery_ids=ids)
    say = messages.success if resent.due else messages.warning
    say(request, describe_resent(resent))
    tell_pauses(request, resent.due)
    return back


def describe_resent(resent: services.Resent) -> str:
    """Returns what became of the selected deliveries, in a sentence for each outcome."""
    due, running, tests = resent.due, resent.running, resent.tests
    sentences = [f"{due:,} deliver{'y is' if due == 1 else 'ies are'} sent again now."]
    if running:
        sentences.append(f"{running:,} {'has' if running == 1 else 'have'} an attempt running.")
    if tests:
        is_one = tests == 1
        sentences.append(
            f"{tests:,} {'is a test event, which is' if is_one else 'are test events, which are'}"
            " sent only once."
        )
    return " ".join(sentences)


def tell_pauses(request: SignedInRequest, count: int) -> bool:
    """Says that some hosts are paused, if any is and something was sent."""
    is_paused = bool(count and services.pauses(request.user.pk))
    if is_paused:
        messages.warning(
            request,
            "Hosts that couldn’t be reached recently are paused; their deliveries follow later.",
        )
    return is_paused


@recoverable
@action("deliveries")
def resend_dead(request: SignedInRequest) -> HttpResponse:
    form = ResendDeadForm(request.POST, auto_id="dead-%s")
    if not form.is_valid():
        return list_page(request, dead_form=form, status=422)
    count = services.resend_dead(account_id=request.user.pk, since=form.cleaned_data["since"])
    subject = "1 delivery is" if count == 1 else f"{count:,} deliveries are"
    if not count:
        messages.info(request, "No deliveries have failed permanently since then.")
    elif services.pauses(request.user.pk):
        messages.warning(
            request,
            f"{subject} due again. Hosts that couldn’t be reached recently are paused;"
            " their deliveries follow later.",
        )
    else:
        messages.success(request, f"{subject} sent again now.")
    return redirect("deliveries")
