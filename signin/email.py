"""The account's e-mail addresses: django-allauth's page, whose form outlives a session."""

from typing import Any

from allauth.account.views import EmailView
from django.forms import Form
from django.http import HttpRequest, HttpResponse

from web.form_recovery import keep, keeping, refill
from web.guards import say_it_is_old


class EmailAddresses(EmailView):  # type: ignore[misc]
    """With what was typed before a sign-in."""

    def get_form(self, form_class: Any = None) -> Form:
        form: Form = super().get_form(form_class)
        refill(self.request, form, "account_email")
        return form


def email_addresses(request: HttpRequest) -> HttpResponse:
    view = EmailAddresses.as_view()
    return (keeping(view) if is_typed(request) else view)(request)


def is_typed(request: HttpRequest) -> bool:
    """Only an address to add is typed; the other buttons choose one that is there."""
    return "action_add" in request.POST


def on_old_token(request: HttpRequest) -> None:
    (keep if is_typed(request) else say_it_is_old)(request)


vars(email_addresses)["on_old_token"] = on_old_token
