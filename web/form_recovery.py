"""Saves the input of a form whose sender was signed out or had signed in again.

The input is stored in the browser's session, which survives the sign-in. It fills the form when the
same person opens the page again; the form names its person (templates/components/person.html),
because somebody else may sign in on the device. Only views with the `recoverable` decorator save
their form; do not use it for forms with secrets.

There are limits, because people who are not signed in can use this: one form of at most 20,000
characters per session, for one hour, and sixty forms per hour from one IP address.
"""

import time
from functools import wraps
from typing import Any

from django.contrib import messages
from django.forms import Form
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django_ratelimit.core import get_usage

from web.guards import Page, set_old_token_handler, warn_page_expired
from web.languages import gettext_lazy as _lazy

_KEY = "kept_form"
PERSON = "person"
NOT_TYPED = {"csrfmiddlewaretoken", "once", "token", PERSON}
MAX_LENGTH = 20_000  # characters, field names included; no real form has more
RATE = "60/h"  # forms per IP address from people who are not signed in
MAX_WAIT = 3600  # seconds
SAID = _lazy("You’re signed in again. What you typed is still here and hasn’t been sent yet.")


def recoverable(view: Page) -> Page:
    """Saves the posted form of a person who is not signed in. Must be the outermost guard."""

    @wraps(view)
    def wrapped(request: HttpRequest, **ids: str) -> HttpResponse:
        if request.method == "POST" and not request.user.is_authenticated:
            save_form(request)
        return view(request, **ids)

    set_old_token_handler(wrapped, save_form)
    return wrapped


def save_form(request: HttpRequest, **ids: str) -> None:
    """Saves the posted form in the session and replaces the one saved before.

    Tells a signed-in person if the form was not saved.
    """
    typed = {name: request.POST.getlist(name) for name in request.POST if name not in NOT_TYPED}
    texts = [text for name, values in typed.items() for text in (name, *values)]
    if sum(map(len, texts)) <= MAX_LENGTH and has_room(request):
        saved = {"path": request.path, "typed": typed, "at": time.time()}
        request.session[_KEY] = {**saved, PERSON: request.POST.get(PERSON)}
    elif request.user.is_authenticated:
        warn_page_expired(request)


def has_room(request: HttpRequest) -> bool:
    """Tells whether the session may store the form; not if another person is signed in.

    For a person who is not signed in, this counts against the rate of the IP address and makes the
    session end within the hour.
    """
    if request.user.is_authenticated:
        return is_of(request.user, request.POST.get(PERSON))
    usage = get_usage(request, "kept", key="ip", rate=RATE, increment=True)
    if usage and usage["should_limit"]:
        return False
    request.session.set_expiry(MAX_WAIT)
    return True


def is_of(user: Any, person: str | None) -> bool:
    """Tells whether input of `person`, as named by the form, may be shown to the user."""
    return str(user.pk) == person


def refill(request: HttpRequest, form: Form, target: str, **ids: str) -> bool:
    """Fills the form with the input saved for the URL name `target`; False if there is none.

    Hidden fields keep their values, because the saved ones belong to the old page.
    """
    saved = request.session.get(_KEY)
    if form.is_bound or saved is None or saved["path"] != reverse(target, kwargs=ids):
        return False
    if not is_of(request.user, saved.get(PERSON)):  # older versions saved no person
        return False
    del request.session[_KEY]
    if time.time() - saved["at"] > MAX_WAIT:
        return False
    typed = QueryDict(mutable=True)
    for name, values in saved["typed"].items():
        typed.setlist(name, values)
    for name, field in form.fields.items():
        if not field.widget.is_hidden:
            value = field.widget.value_from_datadict(typed, {}, form.add_prefix(name))
            form.initial[name] = value
    messages.info(request, SAID)
    return True
