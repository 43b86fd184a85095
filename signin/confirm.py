"""The page behind the link in a confirmation email."""

from typing import Any

from allauth.account.forms import default_token_generator
from allauth.account.models import EmailAddress
from allauth.account.utils import user_pk_to_url_str
from allauth.account.views import ConfirmEmailView
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from accounts.models import User
from accounts.proofs import AddressUnavailable, is_unproven
from signin.proof import is_signed_in_as, prove
from web import return_page
from web.languages import gettext_lazy as _lazy

CONFIRMED = _lazy("Your address {} is confirmed.")
CHANGE_PASSWORD = _lazy("If someone else knows your password, change it under Account.")
NEW_PASSWORD = _lazy("Now choose a new password.")


class ConfirmAddress(ConfirmEmailView):  # type: ignore[misc]
    """Confirms an address for the person who signed in to its account, or secures the account.

    Any reader of the mailbox may confirm the address of a new account. A person who is not signed
    in to the account then chooses a new password, because a stranger may have chosen the old one.
    Confirming a further address requires a sign-in to the account: otherwise one click could give
    an address to a stranger, or the account to the reader of a mistyped address.
    """

    def logout_other_user(self, confirmation: Any) -> None:
        """Does nothing: opening a link signs nobody out."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        if self.object:
            row = self.object.email_address
            context["is_here"] = is_signed_in_as(self.request, row.user)
            context["must_sign_in"] = must_sign_in(self.request, row)
        return context

    def show(self, status: int) -> HttpResponse:
        response: HttpResponse = self.render_to_response(self.get_context_data(), status=status)
        return response

    def post(self, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            self.object = self.get_object()
        except Http404:
            self.object = None
            return self.show(404)
        row = self.object.email_address
        if must_sign_in(self.request, row):
            return self.show(403)
        is_here = is_signed_in_as(self.request, row.user)
        try:
            changes = prove(
                self.request,
                row.user,
                row.email,
                advice=CHANGE_PASSWORD if is_here else NEW_PASSWORD,
                keep_password=is_here,
            )
        except AddressUnavailable:
            return self.show(409)
        if not changes:
            messages.success(self.request, CONFIRMED.format(row.email))
        if not is_here:
            return choose_password(self.request, row.user)
        return redirect(return_page.take(self.request) or "inbox")


def must_sign_in(request: HttpRequest, row: EmailAddress) -> bool:
    """Tells whether only a person who is signed in to the account may confirm this address."""
    proves_account = row.email == row.user.email and is_unproven(row.user)
    return not proves_account and not is_signed_in_as(request, row.user)


def choose_password(request: HttpRequest, user: User) -> HttpResponse:
    """Redirects to the form for a new password, as the link for a forgotten one does."""
    fresh = User.objects.get(pk=user.pk)
    key = default_token_generator.make_token(fresh)
    parts = {"uidb36": user_pk_to_url_str(fresh), "key": key}
    return redirect(reverse("account_reset_password_from_key", kwargs=parts))
