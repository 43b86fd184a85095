"""django-allauth's page of email addresses, which saves its form if the session has ended."""

from typing import Any

from allauth.account.views import EmailView
from django.contrib import messages
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from accounts.audit import record
from accounts.notices import notify, read_origin
from accounts.sign_in_codes import can_send
from signin.locking import while_locked
from web.form_recovery import recoverable, refill, save_form
from web.guards import set_old_token_handler, warn_page_expired
from web.languages import gettext_lazy as _lazy
from web.reauthentication import require_confirmation

CHANGES = ("action_add", "action_remove", "action_primary")
UNSENT = _lazy("This service doesn’t send email, so nobody can confirm an address.")
JUST_SENT = _lazy("We just sent a link. Check your spam folder, or try again in 3 minutes.")


class EmailAddresses(EmailView):  # type: ignore[misc]
    """Asks for reauthentication before a change, reports the change, and restores saved input."""

    def get_form(self, form_class: Any = None) -> Form:
        form: Form = super().get_form(form_class)
        refill(self.request, form, "account_email")
        return form

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if any(name in request.POST for name in CHANGES):
            require_confirmation(request)
        response: HttpResponse = super().post(request, *args, **kwargs)
        return response

    def form_valid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        user, address = self.request.user, form.cleaned_data["email"]
        action = "account.email_added"
        record(account_id=user.pk, actor_id=user.pk, action=action, subject=address)
        notify(account=user, action=action, subject=address, origin=read_origin(self.request))
        return response

    def _action_remove(
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> HttpResponse | None:
        """Also reports the removal to the removed address, if it was confirmed."""
        address = self._get_email_address(request)
        response: HttpResponse | None = super()._action_remove(request, *args, **kwargs)
        if response is not None and address is not None and address.verified:
            notify(
                account=request.user,  # type: ignore[arg-type]
                action="account.email_removed",
                subject=address.email,
                origin=read_origin(request),
                recipients=[address.email],
            )
        return response

    def _action_send(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Sends the link again, at most once in three minutes to an address."""
        if not can_send():
            messages.error(request, UNSENT)
            return None
        response = super()._action_send(request, *args, **kwargs)
        if not self._did_send_verification_email:
            messages.info(request, JUST_SENT)
        return response

    def _action_primary(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Makes a confirmed address the account's own; others may be somebody else's."""
        address = self._get_email_address(request)
        if address is not None and not address.verified:
            messages.error(request, _("Confirm this address first."))
            return None
        return super()._action_primary(request, *args, **kwargs)


def email_addresses(request: HttpRequest) -> HttpResponse:
    view = while_locked(EmailAddresses.as_view())
    return (recoverable(view) if is_adding_address(request) else view)(request)


def is_adding_address(request: HttpRequest) -> bool:
    """Tells whether the form adds an address; the other buttons only choose an existing one."""
    return "action_add" in request.POST


def handle_old_token(request: HttpRequest) -> None:
    (save_form if is_adding_address(request) else warn_page_expired)(request)


set_old_token_handler(email_addresses, handle_old_token)
