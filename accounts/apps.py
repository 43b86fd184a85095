"""The app for accounts: people who hold API keys, review, or both."""

from allauth.usersessions.apps import UserSessionsConfig
from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"
    default = True


class SessionsConfig(UserSessionsConfig):  # type: ignore[misc]
    """Uses django-allauth's table of sessions, without its signal receivers.

    At each sign-in they would read every session of the person, one by one. `accounts.sessions`
    does the same in a few statements.
    """

    default = False

    def ready(self) -> None:
        """Does not connect the signal receivers."""
