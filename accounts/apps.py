"""Accounts: who holds keys, who reviews."""

from allauth.usersessions.apps import UserSessionsConfig
from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"
    default = True


class SessionsConfig(UserSessionsConfig):  # type: ignore[misc]
    """django-allauth's table of sessions without its receivers: at each sign-in they would look
    at every session of that person, one by one. `accounts.sessions` does it in a few statements."""

    default = False

    def ready(self) -> None:
        """Connects nothing."""
