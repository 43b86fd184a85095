"""Pages of the notification settings: push subscriptions, emails, and the unsubscribe link."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from allauth.account.models import EmailAddress
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models.functions import Now
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_ratelimit.core import get_usage

from accounts.user_agent import format_browser
from db import deliveries
from reviews.models import EmailPreference, PushSubscription
from reviews.notifications import services
from reviews.notifications.mail import unsubscribe_link
from reviews.notifications.push import vapid
from reviews.notifications.push.channel import DISPATCHER, post
from reviews.notifications.push.message import Message, Target
from reviews.notifications.push.subscription import InvalidSubscription, read_subscription
from web.bidi import isolate
from web.error_pages import too_many_requests
from web.guards import SignedInRequest, action
from web.phrases import say
from web.strict_json import InvalidJSON, read_object

TEST_SECONDS = 15.0  # after which the page stops waiting for a response
TEST_SHOWN = 600.0  # seconds for which the page shows the result
TEST_RATE = "6/m"
Page = Callable[..., HttpResponse]
DeviceAction = Callable[[SignedInRequest, PushSubscription], HttpResponse]


class MailForm(forms.Form):
    """The choice of requests about which the person gets emails."""

    mails = forms.ChoiceField(
        choices=EmailPreference.Mails.choices,
        widget=forms.RadioSelect,
        label=_lazy("Emails when no device is on"),
    )


@require_safe
@login_required
@never_cache
def notifications(request: SignedInRequest) -> HttpResponse:
    """Shows the settings: devices and emails."""
    choice = EmailPreference.objects.filter(user=request.user).first()
    mails = choice.mails if choice else EmailPreference.Mails.EVERY
    context = {
        "devices": read_devices(request),
        "push_key": vapid.public_key(),
        "form": MailForm(initial={"mails": mails}),
        "address_is_verified": EmailAddress.objects.filter(
            user=request.user, email=request.user.email, verified=True
        ).exists(),
    }
    return render(request, "portal/notifications/settings.html", context)


def read_devices(request: SignedInRequest) -> list[dict[str, Any]]:
    """Reads the person's devices, each with the result of a recent test push."""
    devices = []
    rows = request.user.push_subscriptions.annotate(now=Now())
    for device in rows.order_by("-created_at", "-id"):
        sent_at = device.test_sent_at
        age = TEST_SHOWN if sent_at is None else (device.now - sent_at).total_seconds()
        test = describe_test(device, age) if age < TEST_SHOWN else None
        devices.append({"device": device, "test": test})
    return devices


@action("notifications")
def choose_mails(request: SignedInRequest) -> HttpResponse:
    """Saves which requests the person gets by email."""
    form = MailForm(request.POST)
    if form.is_valid():
        services.choose_mails(user_id=request.user.pk, mails=form.cleaned_data["mails"])
        messages.success(request, _("Saved."))
    else:
        messages.error(request, _("Choose one of the options."))
    return redirect("notifications")


def respond(status: int, **content: Any) -> JsonResponse:
    return JsonResponse(content, status=status)


@require_POST
@never_cache
def subscribe(request: HttpRequest) -> HttpResponse:
    """Registers the browser for pushes, called by a script.

    With `is_new` false it registers nothing and only reports. Responds with `{"state": "on"}`,
    `"off"` if the person turned the device off, or `"ask"` if the browser is unknown.
    """
    if not request.user.is_authenticated:
        return respond(403, error=_("Sign in first."))
    if not vapid.is_on():
        return respond(409, error=_("Push is not set up here."))
    try:
        body = read_object(request)
        subscription = read_subscription(body)
    except InvalidJSON:
        return respond(400, error=_("The body must be a JSON object."))
    except InvalidSubscription as error:
        return respond(400, error=str(error))
    subscribed = services.subscribe(
        user_id=request.user.pk,
        subscription=subscription,
        label=format_browser(request.headers.get("User-Agent", ""), unknown=say("Browser")),
        is_new=body.get("is_new") is not False,
        person=request.user,
    )
    if subscribed is None:
        return respond(200, state="ask")
    device_id, is_on = subscribed
    known = services.subscriptions_in(request.session)
    if device_id not in known:  # removed on sign-out
        request.session[services.SESSION_KEY] = [*known, device_id][-services.MAX_SUBSCRIPTIONS :]
    return respond(200, state="on" if is_on else "off")


def on_device(view: DeviceAction) -> Page:
    """Marks the target of a form about one of the person's devices."""

    @action("notifications", without="device_id")
    @wraps(view)
    def posted(request: SignedInRequest, device_id: str) -> HttpResponse:
        device = request.user.push_subscriptions.filter(pk=device_id).first()
        if device is None:
            raise Http404
        return view(request, device)

    return posted


@on_device
def switch(request: SignedInRequest, device: PushSubscription) -> HttpResponse:
    is_on = request.POST.get("is_on") == "yes"
    services.switch_subscription(subscription=device, is_on=is_on)
    messages.success(
        request,
        (_("%(label)s is on.") if is_on else _("%(label)s is off."))
        % {"label": isolate(device.label)},
    )
    return redirect("notifications")


@on_device
def remove(request: SignedInRequest, device: PushSubscription) -> HttpResponse:
    services.remove_subscription(subscription=device)
    messages.success(request, _("%(label)s is removed.") % {"label": device.label})
    return redirect("notifications")


@on_device
def test(request: SignedInRequest, device: PushSubscription) -> HttpResponse:
    """Pushes a test message to a device; the page shows the response of the push service."""
    usage = get_usage(
        request, group="test-push", key=lambda *_: request.user.pk, rate=TEST_RATE, increment=True
    )
    if usage and usage["should_limit"]:
        return too_many_requests(request, retry_after=max(1, usage["time_left"]))
    if not vapid.is_on():
        messages.error(request, _("Push is not set up here."))
        return redirect("notifications")
    if not deliveries.are_on():
        messages.error(request, _("Nothing is sent at the moment."))
        return redirect("notifications")
    message = Message(
        title="Review Loop",
        body=_("This device is ready. New questions will look like this."),
        url=f"{settings.SITE_URL}/settings/notifications/",
        topic="test",
        priority="high",
        seconds_left=300,
        language=get_language() or "en",
    )
    target = Target(device.pk, device.endpoint, device.host, device.p256dh, device.auth)
    sent_at = services.begin_test(subscription=device)
    if sent_at is None:
        raise Http404
    DISPATCHER.do(
        partial(post, message, target),
        lambda outcome: services.record_test(subscription=device, sent_at=sent_at, outcome=outcome),
    )
    return redirect("notifications")


def describe_test(device: PushSubscription, age: float) -> dict[str, Any]:
    """Describes the result of a test push sent `age` seconds ago."""
    label, result = device.label, device.test_result
    if not result and age < TEST_SECONDS:
        return {"kind": "info", "text": _("Sending a test…"), "is_waiting": True}
    if not result:
        text = _("The push service hasn’t responded. Check the device, or send another test.")
        return {"kind": "warning", "text": text}
    if result == "accepted":
        return {
            "kind": "success",
            "text": _("Sent to %(label)s. It should appear in a moment.") % {"label": label},
        }
    if result == "gone":
        text = _("%(label)s is no longer subscribed and was turned off.") % {"label": label}
    elif result == "busy":
        text = _("Too many notifications are being sent. Try again in a minute.")
    else:
        # without the error: the browser chooses the endpoint, possibly in an internal network
        text = _("The push service rejected it.")
    return {"kind": "error", "text": text}


@csrf_exempt  # mail programs post here without a token; the signed link names the person
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def unsubscribe(request: HttpRequest, token: str) -> HttpResponse:
    """Asks on GET, because mail scanners open links; turns emails off on POST."""
    user_id = unsubscribe_link.read(token)
    if user_id is None:
        raise Http404
    if request.method == "POST":
        services.choose_mails(user_id=user_id, mails=EmailPreference.Mails.NONE)
    is_done = request.method == "POST"
    return render(request, "portal/notifications/unsubscribe.html", {"is_done": is_done})
