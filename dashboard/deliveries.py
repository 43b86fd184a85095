"""Pages of the webhook delivery log, with the action to send a test event."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django_ratelimit.core import get_usage

from accounts import vault
from accounts.models import WebhookEndpoint
from dashboard.forms.deliveries import FilterForm, ResendDeadForm, TestEventForm
from db import worker_status
from db.ids import normalize_id
from web.form_recovery import recoverable, refill
from web.guards import SignedInRequest, action, page
from web.keyset import KeysetPage, read_cursor
from web.languages import gettext_lazy as _lazy
from web.languages import translate
from web.replica import prefer_replica
from web.web_urls import hide_credentials
from webhooks import safe_text, services
from webhooks.failing_hosts import MAX_COUNTED, Failing, read_failing
from webhooks.models import TEST_EVENT, Attempt, Delivery, DeliveryQuerySet
from webhooks.queries import read_hosts, read_log, with_duration

TEST_EVENT_RATE = "10/m"
TOO_MANY_TESTS = format_lazy(
    _lazy("{count} test events are already waiting. Try again when they’re done"),
    count=services.MAX_TESTS,
)
MAX_POLLING = 300  # seconds after a test event during which the page polls for its result
ATTEMPTS_PER_PAGE = 12  # the retry schedule has as many
MAX_FAILING = 5  # hosts that are named
USUAL_LAG, MAX_LAG = 3, 60  # seconds; sweeps run every second


@page
@prefer_replica
def deliveries(request: SignedInRequest) -> HttpResponse:
    return list_page(request)


@page
@prefer_replica
def delivery(request: SignedInRequest, delivery_id: str) -> HttpResponse:
    item = find_delivery(request, delivery_id)
    mine = item.attempts.filter(account_id=item.account_id)
    attempts = with_duration(mine.order_by("-started_at", "-id"))
    attempt_page = Paginator(attempts, ATTEMPTS_PER_PAGE).get_page(request.GET.get("page"))
    first_number = attempt_page.paginator.count - attempt_page.start_index() + 1
    context = {
        "item": item,
        "is_test": item.event == TEST_EVENT,
        "endpoint": find_endpoint(item),
        "url": safe_text.visible(hide_credentials(item.url)),
        "body": safe_text.indent_json(safe_text.body_text(item.body)),
        "page": attempt_page,
        "attempts": [
            {"number": first_number - place, **describe_attempt(attempt)}
            for place, attempt in enumerate(attempt_page)
        ],
    }
    return render(request, "dashboard/deliveries/delivery.html", context)


@page
def test_result(request: SignedInRequest, delivery_id: str) -> HttpResponse:
    """Renders the parts of the page that depend on the result of a test event."""
    tested = describe_test(find_delivery(request, delivery_id, event=TEST_EVENT))
    return render(request, "dashboard/deliveries/_test_result.html", {"tested": tested})


@recoverable
@action("deliveries")
def send_test(request: SignedInRequest) -> HttpResponse:
    form = TestEventForm(request.POST, auto_id="test-%s")
    status = 422
    if form.is_valid():
        wait = count_test_event(request)
        if not wait:
            try:
                delivery = services.request_test(
                    account_id=request.user.pk, url=form.cleaned_data["url"], now=timezone.now()
                )
                return redirect(f"{reverse('deliveries')}?tested={delivery.pk}#test")
            except vault.Unreadable:
                form.add_error(None, _("Your webhook secret can’t be read. Set a new one first"))
            except services.TooManyTests:
                form.add_error("url", TOO_MANY_TESTS)
        else:
            form.add_error(
                "url",
                _("You’ve reached the limit of 10 test events a minute. Try again in %(wait)s s")
                % {"wait": wait},
            )
            status = 429
    response = list_page(request, test_form=form, status=status)
    if status == 429:
        response["Retry-After"] = str(wait)
    return response


def count_test_event(request: SignedInRequest) -> int:
    """Counts a test event and returns the seconds to wait before it may be sent, 0 for none."""
    usage = get_usage(request, "test-event", key="user", rate=TEST_EVENT_RATE, increment=True)
    return max(1, usage["time_left"]) if usage and usage["should_limit"] else 0


def list_page(
    request: SignedInRequest,
    *,
    test_form: TestEventForm | None = None,
    dead_form: ResendDeadForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """Renders the log with its forms. A form passed in was rejected and is shown open."""
    filters = FilterForm(request.GET, auto_id="filter-%s")
    window = KeysetPage(rows=[])
    if filters.is_valid():
        window = read_log(
            select_deliveries(request), chosen=filters.cleaned_data, after=read_cursor(request)
        )
        for item in window.rows:
            item.result = describe_last(item)
    elif status == 200:
        status = 422
    tested = find_test(request)
    day_ago = timezone.now() - timedelta(days=1)
    test_form = test_form or TestEventForm(
        initial={"url": tested["delivery"].url} if tested else {}, auto_id="test-%s"
    )
    dead_form = dead_form or ResendDeadForm(initial={"since": day_ago}, auto_id="dead-%s")
    context: dict[str, Any] = {
        "worker_status": describe_worker_status(),
        "filters": filters,
        "is_filtered": any(filters[name].value() for name in filters.fields),
        "window": window,
        "hosts": read_hosts(request.user.pk) if window.rows or filters.is_bound else [],
        "failing": describe_failing(request.user.pk),
        "tested": tested,
        "test_form": test_form,
        "is_test_open": refill(request, test_form, "send-test") or test_form.is_bound or tested,
        "dead_form": dead_form,
        "is_dead_open": refill(request, dead_form, "resend-dead") or dead_form.is_bound,
    }
    return render(request, "dashboard/deliveries/deliveries.html", context, status=status)


def select_deliveries(request: SignedInRequest) -> DeliveryQuerySet:
    mine: DeliveryQuerySet = Delivery.objects.of_account(request.user.pk)
    return mine


def find_delivery(request: SignedInRequest, delivery_id: str | None, **about: str) -> Any:
    """Returns the account's delivery, with these values in its columns. Raises Http404."""
    delivery = select_deliveries(request).filter(pk=delivery_id, **about).first()
    if delivery is None:
        raise Http404
    return delivery


def find_endpoint(item: Delivery) -> WebhookEndpoint | None:
    """Returns the endpoint that a delivery is for, unless it is deleted by now."""
    mine = WebhookEndpoint.objects.of_account(item.account_id)
    found: WebhookEndpoint | None = (
        mine.filter(pk=item.endpoint_id).first() if item.endpoint_id else None
    )
    return found


def find_test(request: SignedInRequest) -> dict[str, Any] | None:
    """Returns the test event named in the URL with its result. Raises Http404."""
    if "tested" not in request.GET:
        return None
    delivery_id = normalize_id(request.GET["tested"])
    return describe_test(find_delivery(request, delivery_id, event=TEST_EVENT))


def describe_test(delivery: Any) -> dict[str, Any]:
    """Returns a test event with its attempt, once that has ended."""
    mine = Attempt.objects.filter(account_id=delivery.account_id, delivery=delivery)
    is_over = delivery.state != Delivery.State.WAITING
    attempts = list(with_duration(mine)) if is_over else []
    delivery.attempts_made = len(attempts)
    if attempts:
        delivery.last_status, delivery.last_error = attempts[-1].status_code, attempts[-1].error
        delivery.result = describe_last(delivery)
    age = (timezone.now() - delivery.created_at).total_seconds()
    return {
        "delivery": delivery,
        "is_over": bool(attempts),
        "pause": 0 if age > MAX_POLLING else 1 + int(age / 30),  # seconds until the next poll
        **(describe_attempt(attempts[-1]) if attempts else {}),
    }


def describe_attempt(attempt: Any) -> dict[str, Any]:
    """Returns an attempt as the templates show it. A 2xx status is a success."""
    code = attempt.status_code
    return {
        "attempt": attempt,
        "result": format_result(attempt),
        "went_well": code is not None and 200 <= code < 300,
        "seconds": None if attempt.duration is None else attempt.duration.total_seconds(),
        "request_headers": safe_text.header_lines(attempt.request_headers),
        "response_headers": safe_text.header_lines(attempt.response_headers),
        "response_body": safe_text.body_text(attempt.response_body),
    }


def format_result(attempt: Attempt) -> str:
    """Returns the status with its name, the error, or that the attempt has no result yet."""
    if attempt.finished_at is None:
        return _("Interrupted or in progress")
    return translate(safe_text.format_result(attempt.status_code, attempt.error))


def describe_last(item: Any) -> dict[str, Any] | None:
    """Returns how the last attempt of a row ended; None if none has ended yet."""
    if item.last_status is None and item.last_error is None:
        return None
    went_well = item.last_status is not None and 200 <= item.last_status < 300
    return {
        "text": translate(safe_text.format_result(item.last_status, item.last_error)),
        "tone": "" if went_well else "text-error",
    }


def describe_failing(account_id: str) -> dict[str, Any]:
    """Returns the failing hosts as the pages show them, the longest failing first."""
    found = read_failing(account_id, most=MAX_FAILING + 1)
    shown = [describe_host(each) for each in found[:MAX_FAILING]]
    return {"hosts": shown, "has_more": len(found) > MAX_FAILING}


def describe_host(failing: Failing) -> dict[str, Any]:
    """Returns a failing host with its last result, and the query that lists its deliveries."""
    return {
        "name": safe_text.visible(failing.host),
        "since": failing.since,
        "failures": failing.failures,
        "result": translate(safe_text.format_result(failing.status, failing.error)),
        "waiting": failing.waiting,
        "is_many": failing.waiting > MAX_COUNTED,
        "most": MAX_COUNTED,
        "query": urlencode({"host": failing.host, "state": "waiting"}),
    }


def describe_worker_status() -> dict[str, Any]:
    """Returns whether background work keeps up, and a sentence about a delay."""
    lag = worker_status.find_worst(worker_status.read_lags())
    if lag > MAX_LAG:
        return {"is_well": False, "text": _("Background work is not running.")}
    if lag > USUAL_LAG:
        return {
            "is_well": False,
            "text": _("Background work is %(lag)s s behind.") % {"lag": f"{lag:.0f}"},
        }
    return {"is_well": True, "text": ""}
