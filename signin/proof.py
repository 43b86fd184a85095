"""Confirms the address of a person who has proved access to its mailbox."""

from django.contrib import messages
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _lazy

from accounts import proofs
from accounts.models import User

_SESSION_KEY = "created_account"
TAKEN_OVER = _lazy(
    "Your address is confirmed. Someone else may have created this account, so we secured it:"
    " {changes}."
)


def mark_creator(request: HttpRequest, user: User) -> None:
    """Remembers that the account was created in this session."""
    request.session[_SESSION_KEY] = user.pk


def is_signed_in_as(request: HttpRequest, user: User) -> bool:
    return request.user.is_authenticated and request.user.pk == user.pk


def prove(
    request: HttpRequest, user: User, address: str, *, advice: str, keep_password: bool = False
) -> list[str]:
    """Confirms the address. Returns what else has changed; the next page shows it, and the advice.

    Raises proofs.AddressUnavailable.
    """
    is_here = is_signed_in_as(request, user)
    changes = proofs.confirm_address(
        user=user,
        address=address,
        session_key=request.session.session_key if is_here else None,
        keep_password=keep_password,
        is_creator=is_here and request.session.get(_SESSION_KEY) == user.pk,
    )
    if changes:
        sentence = TAKEN_OVER.format(changes="; ".join(changes))
        messages.warning(request, f"{sentence} {advice}".strip())
    return changes
