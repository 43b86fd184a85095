"""Forms that came when their sender was no longer signed in, or had signed in again since.

What was typed waits in the session of the browser that sent it, which outlives the sign-in, and
stands in the form again when its page is next opened. A view says by `keeping` that nothing in its
form is secret.

A stranger may fill sessions too: each has one form of at most 20,000 characters for an hour, and an
address has sixty of them in an hour.
"""

import time
from functools import wraps

from django.contrib import messages
from django.forms import Form
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django_ratelimit.core import get_usage

from web.guards import Page

_KEY = "kept_form"
NOT_TYPED = {"csrfmiddlewaretoken", "once", "token"}
MAX_LENGTH = 20_000  # characters, names included: no honest form has more
RATE = "60/h"  # forms of one address whose sender is not signed in
MAX_WAIT = 3600  # seconds; whoever signs in later may be somebody else
SAID = "You’re signed in again. What you typed is still here and hasn’t been sent yet."


def keeping(view: Page) -> Page:
    """Around a form's target and its guards."""

    @wraps(view)
    def kept(request: HttpRequest, **ids: str) -> HttpResponse:
        if request.method == "POST" and not request.user.is_authenticated:
            keep(request)
        return view(request, **ids)

    vars(kept)["on_old_token"] = keep
    return kept


def keep(request: HttpRequest, **ids: str) -> None:
    """In place of what was kept before."""
    typed = {name: request.POST.getlist(name) for name in request.POST if name not in NOT_TYPED}
    texts = [text for name, values in typed.items() for text in (name, *values)]
    if sum(map(len, texts)) <= MAX_LENGTH and has_room(request):
        request.session[_KEY] = {"path": request.path, "typed": typed, "at": time.time()}


def has_room(request: HttpRequest) -> bool:
    """Whether something may be kept in the session. A stranger's ends within the hour, and counts
    against the address that it comes from."""
    if request.user.is_authenticated:
        return True
    usage = get_usage(request, "kept", key="ip", rate=RATE, increment=True)
    if usage and usage["should_limit"]:
        return False
    request.session.set_expiry(MAX_WAIT)
    return True


def refill(request: HttpRequest, form: Form, target: str, **ids: str) -> bool:
    """Whether something was kept for the form whose target has this name; it is in the form now,
    without hidden fields, which belong to the page that was sent."""
    kept = request.session.get(_KEY)
    if form.is_bound or kept is None or kept["path"] != reverse(target, kwargs=ids):
        return False
    del request.session[_KEY]
    if time.time() - kept["at"] > MAX_WAIT:
        return False
    typed = QueryDict(mutable=True)
    for name, values in kept["typed"].items():
        typed.setlist(name, values)
    for name, field in form.fields.items():
        if not field.widget.is_hidden:
            value = field.widget.value_from_datadict(typed, {}, form.add_prefix(name))
            form.initial[name] = value
    messages.info(request, SAID)
    return True
