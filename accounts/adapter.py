"""Where django-allauth meets our accounts."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest

from accounts import services
from accounts.models import User


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Gives a newcomer the id that an invitation has reserved for the address."""

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        email = form.cleaned_data["email"].lower()
        user.id = services.reserved_id(email) or user.id
        user.name = form.cleaned_data.get("name", "")
        saved: User = super().save_user(request, user, form, commit)
        return saved
