"""The last step of signing in with a code, after the second factor if there is one."""

from allauth.account.stages import LoginStage
from django.contrib import messages
from django.http import HttpResponse

from accounts.code_services import confirm_address

CONFIRMED_ADDRESS = "shown_address"  # key in the state of a sign-in by code
TAKEN_OVER = (
    "Your address is confirmed. Someone else may have created this account, so we secured it:"
    " {lost}. Continue with email codes, or set a password under Account."
)


class ConfirmAddress(LoginStage):  # type: ignore[misc]
    """Confirms the address, after the second factor so that the mailbox alone changes nothing."""

    key = "confirm_address"

    def handle(self) -> tuple[HttpResponse | None, bool]:
        address = self.login.state.get(CONFIRMED_ADDRESS)
        if address is not None:
            changes = confirm_address(user=self.login.user, address=address)
            if changes:
                messages.warning(self.request, TAKEN_OVER.format(lost="; ".join(changes)))
        return None, True
