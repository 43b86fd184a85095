"""Pages of webhook endpoints: list, create, change, switch, test, rotate and delete."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import endpoint_services, vault
from accounts.models import MAX_ENDPOINTS, WebhookEndpoint
from accounts.notices import read_origin
from accounts.secret_services import RotationUnderWay
from dashboard.deliveries import TOO_MANY_TESTS, count_test_event, describe_host
from dashboard.forms.webhook_endpoints import EndpointForm
from loops.models import Loop
from web import form_tokens
from web.form_recovery import recoverable, refill
from web.guards import Page, SignedInRequest, Stale, action, form_page, page
from web.reauthentication import confirmed, is_confirmed
from web.web_urls import hide_credentials
from webhooks import endpoints, safe_text, services
from webhooks.emission import host_of
from webhooks.failing_hosts import read_failing

PURPOSE = "webhook-endpoint"
MAX_FAILING = 1000  # hosts that are read to find the endpoint's
SHOW_ONCE = "show_endpoint_secret"  # in the session: the id of an endpoint with a new secret


def change(view: Page) -> Callable[..., HttpResponse]:
    """Makes a view an action on one of the account's endpoints, once the person is confirmed."""

    @action("webhook-endpoint")
    @confirmed
    @wraps(view)
    def wrapped(request: SignedInRequest, endpoint_id: str) -> HttpResponse:
        endpoint = find_endpoint(request, endpoint_id)
        try:
            return view(request, endpoint)
        except WebhookEndpoint.DoesNotExist:
            raise gone() from None

    return wrapped


@page
def webhook_endpoints(request: SignedInRequest) -> HttpResponse:
    rows = list(WebhookEndpoint.objects.of_account(request.user.pk))
    names = dict(
        Loop.objects.filter(
            creator_id=request.user.pk,
            pk__in={loop_id for row in rows for loop_id in row.loop_ids or ()},
        ).values_list("pk", "name")
    )
    shown = [
        {
            "endpoint": row,
            "host": host_of(row.url),
            "url": show_url(row),
            "loops": [names[loop_id] for loop_id in row.loop_ids or () if loop_id in names],
        }
        for row in rows
    ]
    context = {
        "rows": shown,
        "most": MAX_ENDPOINTS,
        "has_room": len(rows) < MAX_ENDPOINTS,
    }
    return render(request, "dashboard/endpoints/list.html", context)


@recoverable
@form_page
@confirmed
def create(request: SignedInRequest) -> HttpResponse:
    initial = {"once": form_tokens.issue(PURPOSE, request.user.pk)}
    form = EndpointForm(request.POST or None, initial=initial, account_id=request.user.pk)
    refill(request, form, "new-webhook-endpoint")
    status = 422 if form.is_bound else 200
    if form.is_valid():
        made_id = form_tokens.read(form.cleaned_data["once"], PURPOSE, request.user.pk)
        try:
            endpoint, _secret = endpoints.create_endpoint(
                account=request.user,
                endpoint_id=made_id,
                origin=read_origin(request),
                **form.read_fields(),
            )
        except endpoints.AlreadyCreated:
            return redirect("webhook-endpoint", endpoint_id=made_id)
        except endpoints.TooManyEndpoints:
            form.add_error(
                None,
                _("You have %(count)s endpoints already, and more are not possible")
                % {"count": MAX_ENDPOINTS},
            )
        else:
            request.session[SHOW_ONCE] = endpoint.pk
            return redirect("webhook-endpoint", endpoint_id=endpoint.pk)
    return render(request, "dashboard/endpoints/new.html", {"form": form}, status=status)


@page
def show(request: SignedInRequest, endpoint_id: str) -> HttpResponse:
    return endpoint_page(request, find_endpoint(request, endpoint_id))


@recoverable
@change
def edit(request: SignedInRequest, endpoint: WebhookEndpoint) -> HttpResponse:
    form = EndpointForm(request.POST, account_id=request.user.pk, endpoint=endpoint)
    if not form.is_valid():
        return endpoint_page(request, endpoint, form=form)
    endpoints.update_endpoint(
        endpoint=endpoint, changes=form.read_fields(), origin=read_origin(request)
    )
    messages.success(request, _("Saved."))
    return redirect("webhook-endpoint", endpoint_id=endpoint.pk)


@change
def switch(request: SignedInRequest, endpoint: WebhookEndpoint) -> HttpResponse:
    is_on = request.POST.get("state") == "on"
    endpoints.update_endpoint(endpoint=endpoint, changes={"is_on": is_on})
    said = _("Enabled.") if is_on else _("Disabled. It no longer gets events.")
    messages.success(request, said)
    return redirect("webhook-endpoint", endpoint_id=endpoint.pk)


@change
def send_test(request: SignedInRequest, endpoint: WebhookEndpoint) -> HttpResponse:
    """Sends a test event; the log of deliveries shows its result."""
    if wait := count_test_event(request):
        sentence = _("You’ve reached the limit of 10 test events a minute. Try again in %(wait)s s")
        messages.warning(request, sentence % {"wait": wait})
        return redirect("webhook-endpoint", endpoint_id=endpoint.pk)
    try:
        delivery = services.request_test(
            account_id=request.user.pk, url=endpoint.url, now=timezone.now(), endpoint=endpoint
        )
    except services.TooManyTests:
        messages.warning(request, TOO_MANY_TESTS)
        return redirect("webhook-endpoint", endpoint_id=endpoint.pk)
    return redirect(f"{reverse('deliveries')}?tested={delivery.pk}#test")


@change
def rotate(request: SignedInRequest, endpoint: WebhookEndpoint) -> HttpResponse:
    try:
        endpoint_services.rotate(
            endpoint=endpoint, force="force" in request.POST, origin=read_origin(request)
        )
    except RotationUnderWay:
        messages.warning(
            request, _("Nothing was changed. The old secret from the last rotation is still valid.")
        )
    else:
        request.session[SHOW_ONCE] = endpoint.pk
        messages.success(request, _("Secret rotated. The old one stays valid for 24 hours."))
    return redirect("webhook-endpoint", endpoint_id=endpoint.pk)


@change
def end_overlap(request: SignedInRequest, endpoint: WebhookEndpoint) -> HttpResponse:
    endpoint_services.end_rotation(endpoint=endpoint)
    messages.success(request, _("The old secret no longer works."))
    return redirect("webhook-endpoint", endpoint_id=endpoint.pk)


@change
def delete(request: SignedInRequest, endpoint: WebhookEndpoint) -> HttpResponse:
    endpoints.delete_endpoint(endpoint=endpoint)
    messages.success(request, _("Endpoint deleted. It no longer gets events."))
    return redirect("webhook-endpoints")


def find_endpoint(request: SignedInRequest, endpoint_id: str) -> WebhookEndpoint:
    """Returns the account's endpoint. Raises Http404."""
    mine = WebhookEndpoint.objects.of_account(request.user.pk)
    endpoint: WebhookEndpoint | None = mine.filter(pk=endpoint_id).first()
    if endpoint is None:
        raise Http404
    return endpoint


def gone() -> Stale:
    """Builds the error of a view whose endpoint was deleted meanwhile."""
    return Stale(_("The endpoint was deleted."), back="webhook-endpoints")


def endpoint_page(
    request: SignedInRequest, endpoint: WebhookEndpoint, *, form: EndpointForm | None = None
) -> HttpResponse:
    """Renders the page of one endpoint. A form passed in was rejected."""
    fresh = EndpointForm(
        initial=EndpointForm.build_initial(endpoint),
        account_id=request.user.pk,
        endpoint=endpoint,
    )
    refill(request, fresh, "edit-webhook-endpoint", endpoint_id=endpoint.pk)
    host = host_of(endpoint.url)
    is_rotating = endpoint.previous_until and endpoint.previous_until > timezone.now()
    context: dict[str, Any] = {
        "endpoint": endpoint,
        "shown_url": show_url(endpoint),
        "secret": take_secret(request, endpoint),
        "rotating_until": endpoint.previous_until if is_rotating else None,
        "forced": [("force", "yes")],
        "host": host,
        "failing": {
            "hosts": [
                describe_host(each)
                for each in read_failing(request.user.pk, most=MAX_FAILING)
                if each.host == host
            ]
        },
        "form": form or fresh,
    }
    return render(request, "dashboard/endpoints/show.html", context, status=422 if form else 200)


def take_secret(request: SignedInRequest, endpoint: WebhookEndpoint) -> str | None:
    """Returns a new secret on the first view of the page after it was made, and never again."""
    if request.method != "GET" or request.session.get(SHOW_ONCE) != endpoint.pk:
        return None
    del request.session[SHOW_ONCE]
    # a flag left by an older visit reveals nothing
    return vault.open_sealed(endpoint.sealed) if is_confirmed(request) else None


def show_url(endpoint: WebhookEndpoint) -> str:
    """Returns the URL without its credentials and with visible characters only."""
    return safe_text.visible(hide_credentials(endpoint.url))
