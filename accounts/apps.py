"""Accounts: who holds keys, who reviews."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"
