"""The last step of signing in with a code, after the second factor where there is one."""

from allauth.account.stages import LoginStage
from django.contrib import messages
from django.http import HttpResponse

from accounts.code_services import confirm_address

SHOWN = "shown_address"  # in the state of a sign-in: the address that a code has shown
TAKEN_OVER = (
    "Your address is confirmed. Someone else may have created this account, so we secured it:"
    " {lost}. Continue with email codes, or set a password under Account."
)


class ConfirmAddress(LoginStage):  # type: ignore[misc]
    """Whoever has the mailbox alone, where a second factor is asked for, ends nothing."""

    key = "confirm_address"

    def handle(self) -> tuple[HttpResponse | None, bool]:
        address = self.login.state.get(SHOWN)
        if address is not None:
            lost = confirm_address(user=self.login.user, address=address)
            if lost:
                messages.warning(self.request, TAKEN_OVER.format(lost="; ".join(lost)))
        return None, True
