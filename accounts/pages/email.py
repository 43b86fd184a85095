"""The account's e-mail addresses: django-allauth's page, whose form outlives a session."""

from typing import Any

from allauth.account.views import EmailView
from django.forms import Form
from django.http import HttpRequest, HttpResponse

from accounts.pages.kept import keeping, refill


class EmailAddresses(EmailView):  # type: ignore[misc]
    """With what was typed before a sign-in."""

    def get_form(self, form_class: Any = None) -> Form:
        form: Form = super().get_form(form_class)
        refill(self.request, form, "account_email")
        return form


def email_addresses(http: HttpRequest) -> HttpResponse:
    """Only an address to add is typed; the other buttons choose one that is there."""
    view = EmailAddresses.as_view()
    return (keeping(view) if "action_add" in http.POST else view)(http)
