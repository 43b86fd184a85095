"""django-allauth's page of email addresses; its form is saved when the session has ended."""

from typing import Any

from allauth.account.views import EmailView
from django.forms import Form
from django.http import HttpRequest, HttpResponse

from web.form_recovery import recoverable, refill, save_form
from web.guards import warn_page_expired


class EmailAddresses(EmailView):  # type: ignore[misc]
    """Fills the form with the input saved before a sign-in."""

    def get_form(self, form_class: Any = None) -> Form:
        form: Form = super().get_form(form_class)
        refill(self.request, form, "account_email")
        return form


def email_addresses(request: HttpRequest) -> HttpResponse:
    view = EmailAddresses.as_view()
    return (recoverable(view) if is_adding_address(request) else view)(request)


def is_adding_address(request: HttpRequest) -> bool:
    """Whether the form adds an address; the other buttons only choose an existing one."""
    return "action_add" in request.POST


def on_old_token(request: HttpRequest) -> None:
    (save_form if is_adding_address(request) else warn_page_expired)(request)


vars(email_addresses)["on_old_token"] = on_old_token
