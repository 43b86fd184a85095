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
LONGEST = 20_000  # characters, names included: no honest form has more
RATE = "60/h"  # forms of one address whose sender is not signed in
LONGEST_WAIT = 3600  # seconds; whoever signs in later may be somebody else
SAID = "You’re signed in again. What you typed is still here and hasn’t been sent yet."


def keeping(view: Page) -> Page:
    """Around a form's target and its guards."""

    @wraps(view)
    def kept(http: HttpRequest, **ids: str) -> HttpResponse:
        if http.method == "POST" and not http.user.is_authenticated:
            keep(http)
        return view(http, **ids)

    vars(kept)["on_old_token"] = keep
    return kept


def keep(http: HttpRequest, **ids: str) -> None:
    """In place of what was kept before."""
    typed = {name: http.POST.getlist(name) for name in http.POST if name not in NOT_TYPED}
    texts = [text for name, values in typed.items() for text in (name, *values)]
    if sum(map(len, texts)) <= LONGEST and has_room(http):
        http.session[_KEY] = {"path": http.path, "typed": typed, "at": time.time()}


def has_room(http: HttpRequest) -> bool:
    """Whether something may be kept in the session. A stranger's ends within the hour, and counts
    against the address that it comes from."""
    if http.user.is_authenticated:
        return True
    usage = get_usage(http, "kept", key="ip", rate=RATE, increment=True)
    if usage and usage["should_limit"]:
        return False
    http.session.set_expiry(LONGEST_WAIT)
    return True


def refill(http: HttpRequest, form: Form, target: str, **ids: str) -> bool:
    """Whether something was kept for the form whose target has this name; it is in the form now,
    without hidden fields, which belong to the page that was sent."""
    kept = http.session.get(_KEY)
    if form.is_bound or kept is None or kept["path"] != reverse(target, kwargs=ids):
        return False
    del http.session[_KEY]
    if time.time() - kept["at"] > LONGEST_WAIT:
        return False
    typed = QueryDict(mutable=True)
    for name, values in kept["typed"].items():
        typed.setlist(name, values)
    for name, field in form.fields.items():
        if not field.widget.is_hidden:
            value = field.widget.value_from_datadict(typed, {}, form.add_prefix(name))
            form.initial[name] = value
    messages.info(http, SAID)
    return True
